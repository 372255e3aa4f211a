/** Collects the files of a bundle. See docs/operations.md, "Support bundle". */
import { readNamespacesOf } from "@svc-gateway/operator/control/translate-settings.ts";
import { describeApiError } from "@svc-gateway/operator/sources/kubernetes/api-client.ts";
import { nameOf, refOf } from "@svc-gateway/operator/api/object.ts";
import { stringify } from "yaml";
import { createReport } from "../check/report.ts";
import { fileOf } from "../live/object-text.ts";
import type { ReadOnlyClient } from "../live/connect.ts";
import type { LiveController } from "../live/controller.ts";
import type { TranslatedCluster } from "../live/translate-live.ts";
import type { ClusterStatus } from "../status/status.ts";
import { version } from "../version.ts";
import { cleanMessages, describeObject } from "./described-object.ts";
import type { Entry, Gap } from "./entry.ts";
import { readEvents } from "./events.ts";
import { describePod, listPods, readPod } from "./installation-pods.ts";
import { createWithheldTexts, type WithheldTexts } from "./withheld-texts.ts";

export type BundleSources = {
  readonly client: ReadOnlyClient;
  readonly controller: LiveController;
  readonly status: ClusterStatus;
  readonly translated: TranslatedCluster;
  readonly nowMs: number;
};

/** The maximum number of objects that are written; of a larger cluster, the first ones. */
const maxObjects = 20_000;

/** Collects the files of a bundle. `gaps.json` lists the data that cannot be read. */
export async function collectBundle(sources: BundleSources): Promise<readonly Entry[]> {
  const { client, controller, status, translated } = sources;
  const withheld = createWithheldTexts();
  // The sources of withheld texts come first, then the texts that can quote them.
  const objects = translated.objects.slice(0, maxObjects).map((object) => ({
    file: `objects/${fileOf(object)}`,
    described: describeObject(object, withheld),
  }));
  const namespaces = [controller.namespace, ...(status.proxies ?? []).map(({ namespace }) => namespace)];
  const listed = await listPods(client, [...new Set(namespaces)]);
  const pods = listed.pods.map((pod) => ({
    file: `pods/${pod.metadata.namespace}/${pod.metadata.name}.json`,
    described: describePod(pod, withheld),
  }));
  const gaps: Gap[] = [...listed.gaps];
  const versions = await readVersions(client, controller, gaps);
  const events = await readOwnEvents(sources, withheld);
  gaps.push(...events.gaps);
  const texts: Entry[] = [];
  for (const pod of listed.pods) {
    const read = await readPod(client, pod, withheld);
    texts.push(...read.entries);
    gaps.push(...read.gaps);
  }
  const more = translated.objects.length - maxObjects;
  if (more > 0) gaps.push({ what: `${more} further objects`, why: `at most ${maxObjects} are written` });
  const report = await createReport(translated);
  const data = (file: string, value: unknown): Entry => ({
    file,
    text: `${JSON.stringify(cleanMessages(value, withheld), undefined, 2)}\n`,
  });
  return [
    { file: "README.txt", text: introduction },
    data("status.json", status),
    data("findings.json", report),
    data("versions.json", versions),
    data("events.json", events.events),
    data("gaps.json", gaps),
    ...pods.map(({ file, described }) => data(file, described)),
    ...objects.map(({ file, described }) => ({
      file,
      text: stringify(cleanMessages(described, withheld), { aliasDuplicateObjects: false, lineWidth: 0 }),
    })),
    ...texts,
  ];
}

async function readVersions(client: ReadOnlyClient, { image }: LiveController, gaps: Gap[]): Promise<object> {
  const server = await client.call<object>("/version");
  if (!server.ok) gaps.push({ what: "version of the API server", why: describeApiError(server.error) });
  return {
    commandLine: version,
    node: process.version,
    controllerImage: image,
    server: server.ok ? server.value : null,
  };
}

function readOwnEvents(
  { client, controller, translated }: BundleSources,
  withheld: WithheldTexts,
): ReturnType<typeof readEvents> {
  const known = new Set(
    translated.objects
      // Events about these come from other programs and are not about the gateway.
      .filter(({ kind }) => kind !== "Secret" && kind !== "ConfigMap" && kind !== "Namespace")
      .map((object) => `${object.kind} ${nameOf(refOf(object))}`),
  );
  return readEvents(
    client,
    {
      namespaces: readNamespacesOf(controller.settings),
      ownNamespace: controller.namespace,
      isOfGateway: (kind, namespace, name) =>
        known.has(`${kind} ${namespace === "" ? name : `${namespace}/${name}`}`),
    },
    withheld,
  );
}

const introduction = `Support bundle of an installation of svc-gateway.

status.json    what "svc-gateway status -o json" prints
findings.json  what "svc-gateway check --live -o json" prints
versions.json  versions of the command line, the controllers and the API server
events.json    Events about objects that the gateway reads and about its own namespace
gaps.json      what could not be read or was too large, and why
objects/       the objects that the controllers read
pods/          the pods of controllers and proxies: flags, resources, states of containers
logs/          their logs without access logs; .previous.log is of the container before a restart
metrics/       their metrics

Secrets are left out: of Secrets and ConfigMaps there are keys and sizes, of annotations, header values, snippets, queries,
credentials in URLs and environment variables lengths. Names, hosts, paths, addresses and labels are in the bundle.
`;
