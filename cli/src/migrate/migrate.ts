/**
 * Writes Ingresses of ingress-nginx in this project's own terms. What the manifests come to is translated, written, translated
 * again and compared: the report says what the comparison finds. See docs/cli.md, "migrate".
 */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { localPublicPort } from "@svc-gateway/common/settings/flag-types.ts";
import { nameOf, type KubeObject } from "@svc-gateway/operator/api/object.ts";
import { loadStream } from "@svc-gateway/operator/sources/files/load-text.ts";
import { htpasswdLabel } from "@svc-gateway/operator/translate/credentials/htpasswd.ts";
import type { NginxReport } from "@svc-gateway/operator/translate/ingress-nginx/report.ts";
import { createLookup, updateWorld, type World } from "@svc-gateway/operator/world.ts";
import { translateWorld, type ReadFolder } from "../translate-folder.ts";
import { withAssumed } from "./assumed.ts";
import { compareUnits } from "./compare.ts";
import { editIngress } from "./ingress-nodes.ts";
import { writeIngress, type WrittenIngress } from "./ingress-parts.ts";
import type { UnitDifference } from "./known-differences.ts";
import { createNode, joinDocuments, rewriteText, textAt, type ManifestNode } from "./manifest-texts.ts";
import { servedUnits } from "./served-units.ts";

type FolderSettings = Parameters<typeof translateWorld>[1];

export type MigrateOptions = {
  readonly settings: FolderSettings;
  /** The class of the Ingresses that are written. */
  readonly className: string;
  readonly nowMs: number;
};

/** What became of one Ingress. */
export type MigratedIngress = {
  readonly report: NginxReport;
  /** It adds a backend to the routes of another Ingress, and is not written. */
  readonly isCanary: boolean;
  readonly differences: readonly UnitDifference[];
};

export type Migration = {
  /** The text of each file of the input, by its path as given. */
  readonly files: ReadonlyMap<string, string>;
  readonly ingresses: readonly MigratedIngress[];
  /** What has to be done by hand, as commands. */
  readonly todo: readonly string[];
};

/** Migrates to annotations. */
export async function migrateToAnnotations(folder: ReadFolder, options: MigrateOptions): Promise<Migration> {
  const { className, nowMs } = options;
  const { state } = folder;
  const settings = withUsualPorts(options.settings);
  const prefix = settings.ingressNginxAnnotationsPrefix;
  const before = withClass(withAssumed(state.world, prefix), options);
  const translation = await translateWorld(before, settings, nowMs);
  const units = Map.groupBy(servedUnits(translation).values(), ({ ingress }) => ingress);
  const lookup = createLookup(before);
  const written = new Map<string, WrittenIngress | "canary">();
  for (const { object } of translation.nginxReports) {
    const ingress = lookup("Ingress", object.namespace ?? "", object.name);
    if (ingress === undefined) continue;
    const ofIngress = units.get(nameOf(object)) ?? [];
    const isCanary = ofIngress.length === 0 && ingress.metadata.annotations?.[`${prefix}/canary`] === "true";
    const isTaken = (kind: string, name: string): boolean =>
      before[kind as "Ingress"].some(
        ({ metadata }) => metadata.name === name && metadata.namespace === object.namespace,
      );
    written.set(nameOf(object), isCanary ? "canary" : writeIngress(ingress, { units: ofIngress, isTaken }));
  }
  const userLists = userListsOf(written.values());
  const files = await writeFiles(folder, { className, prefix, written, userLists });
  const after = withClass(completed(await readWritten(files), before), options);
  const labelled = labelUserLists(after, userLists);
  const afterSettings = { ...settings, ingressNginxClasses: [], ingressNginxWatchWithoutClass: false };
  const served = servedUnits(await translateWorld(labelled, afterSettings, nowMs));
  return {
    files,
    todo: todoOf(state.world, userLists),
    ingresses: translation.nginxReports.map((report) => {
      const one = written.get(nameOf(report.object));
      return {
        report,
        isCanary: one === "canary",
        differences: one === undefined || one === "canary" ? [] : compareUnits(one.moved, served),
      };
    }),
  };
}

/** Clients of a cluster reach the usual ports, whichever are free on this machine. */
const withUsualPorts = (settings: FolderSettings): FolderSettings => {
  const { ingressHttpPublicPort: http, ingressHttpsPublicPort: https } = settings;
  return {
    ...settings,
    ingressHttpPublicPort: http === localPublicPort ? 80 : http,
    ingressHttpsPublicPort: https === localPublicPort ? 443 : https,
  };
};

/** The world with a class of this gateway of the given name. */
function withClass(world: World, { className, settings }: MigrateOptions): World {
  if (world.IngressClass.some(({ metadata }) => metadata.name === className)) return world;
  const object: ObjectOf<"IngressClass"> = {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: className },
    spec: { controller: settings.controllerName },
  };
  return updateWorld(world, [{ type: "apply", object }]);
}

type Writing = {
  readonly className: string;
  readonly prefix: string;
  readonly written: ReadonlyMap<string, WrittenIngress | "canary">;
  /** Secrets as `namespace/name`. */
  readonly userLists: ReadonlySet<string>;
};

async function writeFiles(
  { state, read }: ReadFolder,
  { className, prefix, written, userLists }: Writing,
): Promise<ReadonlyMap<string, string>> {
  const isForeign = (key: string): boolean => key.startsWith(`${prefix}/`);
  const replace = (node: ManifestNode): readonly ManifestNode[] | undefined => {
    const kind = textAt(node, ["kind"]);
    const name = textAt(node, ["metadata", "name"]) ?? "";
    const key = `${textAt(node, ["metadata", "namespace"]) ?? "default"}/${name}`;
    if (kind === "Secret" && userLists.has(key)) return [withLabel(node)];
    const one = kind === "Ingress" ? written.get(key) : undefined;
    if (one === undefined) return undefined;
    if (one === "canary") return [];
    return [
      ...editIngress(node, one.parts, { className, isForeign }),
      ...one.objects.map((object) => createNode(object)),
    ];
  };
  const files = new Map<string, string>();
  const places = new Set([...state.objects.values()].map(({ place }) => place.file));
  const others = new Set(state.ignored.map(({ file }) => file));
  for (const file of new Set([...places, ...others])) {
    files.set(file, rewriteText(await read(file), file.endsWith(".json"), replace));
  }
  return files;
}

function withLabel(node: ManifestNode): ManifestNode {
  const labelled = node.clone() as ManifestNode;
  labelled.setIn(["metadata", "labels", htpasswdLabel], "true");
  return labelled;
}

/** The objects of the written files. */
async function readWritten(files: ReadonlyMap<string, string>): Promise<World> {
  const text = joinDocuments([...files.values()]);
  const loaded = await loadStream("<written>", [text] as unknown as AsyncIterable<string>);
  if (!loaded.ok) throw new Error(`what was written cannot be read: ${loaded.error.message}`);
  return loaded.value.state.world;
}

/** A world with the Services and Secrets of another one that it lacks. */
function completed(world: World, before: World): World {
  const lookup = createLookup(world);
  const missing: readonly KubeObject[] = [
    ...before.Service.filter(
      ({ metadata }) => lookup("Service", metadata.namespace, metadata.name) === undefined,
    ),
    ...before.Secret.filter(
      ({ metadata }) => lookup("Secret", metadata.namespace, metadata.name) === undefined,
    ),
  ];
  return updateWorld(
    world,
    missing.map((object) => ({ type: "apply", object })),
  );
}

const userListsOf = (written: Iterable<WrittenIngress | "canary">): ReadonlySet<string> =>
  new Set(
    [...written]
      .flatMap((one) => (one === "canary" ? [] : one.parts))
      .flatMap(({ annotations }) => annotations["auth-basic-secret"] ?? []),
  );

/** What the reader of the list of things to do will have done. */
function labelUserLists(world: World, userLists: ReadonlySet<string>): World {
  const lookup = createLookup(world);
  const labelled = [...userLists].flatMap((key): KubeObject[] => {
    const [namespace = "", name = ""] = key.split("/");
    const secret = lookup("Secret", namespace, name);
    if (secret === undefined) return [];
    const labels = { ...secret.metadata.labels, [htpasswdLabel]: "true" };
    return [{ ...secret, metadata: { ...secret.metadata, labels } } as KubeObject];
  });
  return updateWorld(
    world,
    labelled.map((object) => ({ type: "apply", object })),
  );
}

const todoOf = (world: World, userLists: ReadonlySet<string>): readonly string[] =>
  [...userLists].flatMap((key) => {
    const [namespace = "", name = ""] = key.split("/");
    const isWritten = world.Secret.some(
      ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
    );
    return isWritten ? [] : [`kubectl --namespace ${namespace} label secret ${name} ${htpasswdLabel}=true`];
  });
