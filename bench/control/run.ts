/** The run itself, inside its Linux namespaces. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parse } from "yaml";
import type { ApiClient } from "../../operator/src/sources/kubernetes/api-client.ts";
import { startApiServer } from "./api-server.ts";
import { definitionsFolder } from "./isolation.ts";
import { createAll, createApplications } from "./fill.ts";
import { memoryOf, metricOf, startGateway, type Gateway } from "./gateway.ts";
import { httpRoutes, ingresses, measureApplies, measureChanges, type Times } from "./measure.ts";
import {
  backendPort,
  collections,
  gatewayPort,
  ingressClass,
  installNamespace,
  namespace,
} from "./objects.ts";
import { figureLine, percentile, type Figure } from "./report.ts";
import { createGateway, createRoutes, editUnderLoad, removeRoutes, untilAttached } from "./routes.ts";
import { startSubscriber } from "./subscriber.ts";

/** The number of Ingresses that exist when new ones are applied; `many` is that of the large cluster. */
const few = 3_000;
const many = Number(process.env["INGRESSES"] ?? 10_000);
const applies = Number(process.env["APPLIES"] ?? 120);
const changes = 60;
/**
 * The number of HTTPRoutes of one Gateway when its status is read, and of those edited under load while `manyRoutes`
 * exist.
 */
const attachedRoutes = 1_000;
const manyRoutes = 3_000;

const controllerHealthPort = 8081;
const proxyHealthPort = 8181;
const ingressPort = 80;
const proxyAccount = "svc-shared-proxy";
/** Long enough for garbage of the start to be collected. */
const settleMs = 5_000;

type Identity = { readonly tokenPath: string; readonly trustPath: string };

/**
 * Runs all measurements and returns the figures. `printLine` receives each figure and each step when it is available.
 */
export async function runBenchmark(
  folder: string,
  printLine: (line: string) => void,
): Promise<readonly Figure[]> {
  const startMs = performance.now();
  const step = (what: string): void =>
    printLine(`[${((performance.now() - startMs) / 1000).toFixed(0).padStart(3)} s] ${what}`);
  const figures: Figure[] = [];
  const record = (...some: readonly Figure[]): void => {
    for (const figure of some) printLine(`        ${figureLine(figure)}`);
    figures.push(...some);
  };

  createServer((_, response) => response.end("ok")).listen(backendPort);
  step("starting etcd and kube-apiserver");
  const client = await startApiServer(join(folder, "api"));
  await install(client);
  step(`creating ${few} applications`);
  await createApplications(client, 0, few);

  step("starting controller and proxy");
  const first = await startController(folder, "controller-0");
  const identity = await writeIdentity(client, folder);
  const proxy = await startProxy(folder, identity);
  const subscriber = startSubscriber(identity);
  await subscriber.nextFull();
  await untilStatusesAreWritten(few);
  step(`applying ${applies} Ingresses with ${few} present`);
  const measured = { client, subscriber, proxyPort: ingressPort };
  const applied = await measureApplies({ ...measured, applications: few }, ingresses, applies);
  record(...applyFigures(applied, `${few} Ingresses`));

  step(`creating a Gateway with ${attachedRoutes} HTTPRoutes`);
  await createGateway(client);
  await createRoutes(client, 0, attachedRoutes);
  record({
    what: `attachedRoutes right after the last of ${attachedRoutes} HTTPRoutes`,
    value: await untilAttached(client, attachedRoutes),
    unit: "ms",
    target: 5_000,
  });
  await createRoutes(client, attachedRoutes, manyRoutes);
  await untilAttached(client, manyRoutes);
  await untilStatusesAreWritten(few + manyRoutes);
  step(`applying ${applies} HTTPRoutes with ${manyRoutes} present`);
  const ofGateway = { ...measured, proxyPort: gatewayPort, applications: manyRoutes };
  const routed = await measureApplies(ofGateway, httpRoutes, applies);
  record(...applyFigures(routed, `${manyRoutes} HTTPRoutes`));
  step(`editing ${attachedRoutes} HTTPRoutes under load`);
  const { requests, failed } = await editUnderLoad(client, attachedRoutes);
  record(
    { what: `requests while ${attachedRoutes} HTTPRoutes were edited`, value: requests, unit: "" },
    { what: "of which failed", value: failed, unit: "", target: 0 },
  );
  await removeRoutes(client, manyRoutes);

  step(`creating ${many - few} more while both run`);
  await createApplications(client, few, many);
  await untilStatusesAreWritten(many);
  record({
    what: "controller, highest RSS while applications were created",
    value: memoryOf(first.pid).peak,
    unit: "MB",
  });

  step("starting another controller");
  await first.stop();
  const full = subscriber.nextFull();
  const second = await startController(folder, "controller-1");
  await full;
  record({
    what: `full build with ${many} Ingresses`,
    value: firstBuildMs(second),
    unit: "ms",
    target: 1_000,
  });
  await delay(settleMs);
  step(`changing ${changes} Ingresses and ${changes} EndpointSlices with ${many} present`);
  const { ingress, slice } = await measureChanges({ ...measured, applications: many }, changes);
  record(...changeFigures("Ingress", ingress), ...changeFigures("EndpointSlice", slice));
  const memory = memoryOf(second.pid);
  record(
    { what: `controller with ${many} Ingresses, RSS`, value: memory.rss, unit: "MB", target: 512 },
    { what: "controller, highest RSS", value: memory.peak, unit: "MB", target: 512 },
    { what: "proxy, RSS", value: memoryOf(proxy.pid).rss, unit: "MB" },
  );
  step("done");
  await Promise.all([subscriber.stop(), second.stop(), proxy.stop()]);
  return figures;
}

const applyFigures = ({ served, answered, published }: Times, present: string): readonly Figure[] => [
  {
    what: `apply to first 200 with ${present}, median`,
    value: percentile(served, 0.5),
    unit: "ms",
    target: 50,
  },
  {
    what: `apply to first 200 with ${present}, p99`,
    value: percentile(served, 0.99),
    unit: "ms",
    target: 300,
  },
  { what: "apply to the API server's answer, median", value: percentile(answered, 0.5), unit: "ms" },
  { what: "apply to the delta, median", value: percentile(published, 0.5), unit: "ms" },
];

const changeFigures = (kind: string, { answered, published }: Omit<Times, "served">): readonly Figure[] => [
  {
    what: `change of one ${kind} to the delta, median`,
    value: percentile(published, 0.5),
    unit: "ms",
    target: 50,
  },
  { what: `change of one ${kind} to the delta, p99`, value: percentile(published, 0.99), unit: "ms" },
  {
    what: `change of one ${kind} to the API server's answer, median`,
    value: percentile(answered, 0.5),
    unit: "ms",
  },
];

/** Creates the objects that an installation needs besides its processes. */
async function install(client: ApiClient): Promise<void> {
  const folders = [resolve(import.meta.dirname, "../../crds"), definitionsFolder()];
  const definitions = folders.flatMap((folder) =>
    readdirSync(folder).map((name) => parse(readFileSync(join(folder, name), "utf8")) as object),
  );
  await createAll(client, [
    ...definitions.map((body) => ({ path: collections.definitions, body })),
    { path: collections.namespaces, body: namespace(installNamespace) },
    { path: collections.ingressClasses, body: ingressClass },
  ]);
  await createAll(client, [
    {
      path: collections.serviceAccounts,
      body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: proxyAccount } },
    },
  ]);
}

const startController = (folder: string, name: string): Promise<Gateway> =>
  startGateway("controller", {
    name,
    folder,
    healthPort: controllerHealthPort,
    flags: { "status-address": "192.0.2.1" },
  });

const startProxy = (folder: string, { tokenPath, trustPath }: Identity): Promise<Gateway> =>
  startGateway("proxy", {
    name: "proxy-0",
    folder,
    healthPort: proxyHealthPort,
    flags: {
      shared: true,
      "discovery-endpoint": "127.0.0.1",
      "discovery-sa-token-path": tokenPath,
      "discovery-ca-bundle-path": trustPath,
    },
  });

/** Writes the files that a kubelet mounts into the pod of a proxy. */
async function writeIdentity(client: ApiClient, folder: string): Promise<Identity> {
  const token = await client.call<{ readonly status: { readonly token: string } }>(
    `${collections.serviceAccounts}/${proxyAccount}/token`,
    { method: "POST", body: { spec: { audiences: ["svc-discovery"], expirationSeconds: 3_600 } } },
  );
  const trust = await client.call<{ readonly data: Readonly<Record<string, string>> }>(
    `/api/v1/namespaces/${installNamespace}/configmaps/svc-discovery-trust`,
  );
  if (!token.ok || !trust.ok) throw new Error("the API server gives no token, or there is no trust bundle");
  const paths = { tokenPath: join(folder, "token"), trustPath: join(folder, "ca.crt") };
  writeFileSync(paths.tokenPath, token.value.status.token, { mode: 0o600 });
  writeFileSync(paths.trustPath, trust.value.data["ca.crt"] ?? "");
  return paths;
}

/**
 * Waits until the leader has written a status into each Ingress, so that changes are measured on an idle controller.
 */
async function untilStatusesAreWritten(count: number): Promise<void> {
  for (let last = -1; ;) {
    const reconciled = await metricOf(controllerHealthPort, "svc_controller_reconcile_total");
    if (reconciled >= count && reconciled === last) return;
    last = reconciled;
    await delay(1_000);
  }
}

/** The duration of the first build, for which no earlier result could be reused, from the log. */
function firstBuildMs(controller: Gateway): number {
  const line = controller.log().find(({ message }) => message === "snapshot published");
  return Number(line?.["duration_ms"]);
}
