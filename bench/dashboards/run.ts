/** The run itself, inside its Linux namespaces: two controllers, two shared proxies, Prometheus, and traffic. */
import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import { startGateway, type Gateway } from "../control/gateway.ts";
import { address } from "../control/isolation.ts";
import { installNamespace } from "../control/objects.ts";
import { startInstance, type Instance } from "../soak/backend.ts";
import { runGrpc } from "../soak/clients/grpc.ts";
import { runHttp1 } from "../soak/clients/http1.ts";
import { runHttp2 } from "../soak/clients/http2.ts";
import { runWebSocket } from "../soak/clients/websocket.ts";
import { endpointObjects, versionedRoute } from "../soak/manifests.ts";
import { pause } from "../soak/stage.ts";
import { Tally } from "../soak/tally.ts";
import { startBackends } from "./backends.ts";
import { startCluster, type RunCluster } from "./cluster.ts";
import { startPrometheus, type Prometheus } from "./prometheus.ts";
import { runTroubles } from "./troubles.ts";

const proxies = [
  { name: "svc-proxy-a", host: "127.0.0.1", healthPort: 8181 },
  { name: "svc-proxy-b", host: "127.0.0.2", healthPort: 8281 },
] as const;
const controllers = [
  { name: "svc-controller-a", healthPort: 8081, discoveryPort: 50_051 },
  { name: "svc-controller-b", healthPort: 8091, discoveryPort: 50_061 },
] as const;

export type Recording = {
  readonly prometheus: Prometheus;
  /** Seconds since 1970. */
  readonly from: number;
  readonly to: number;
};

/** Runs all traffic and faults for `seconds`; the processes end with the namespace. */
export async function record(
  folder: string,
  seconds: number,
  printLine: (line: string) => void,
): Promise<Recording> {
  const cluster = await startCluster(join(folder, "cluster"));
  await startBackends(address, cluster.identity);
  const instances = await Promise.all([startInstance(address), startInstance(address)]);
  cluster.put([versionedRoute(0), ...endpointObjects(instances, address)]);
  const prometheus = await startPrometheus(
    join(folder, "prometheus"),
    installNamespace,
    [...controllers, ...proxies].map(({ name, healthPort }) => ({ name, adminPort: healthPort + 1 })),
  );
  printLine("Prometheus runs; starting controllers and proxies");
  const [first] = [await startController(folder, 0), await startController(folder, 1)];
  const identity = await cluster.proxyIdentity();
  const started = await Promise.all(proxies.map((proxy) => startProxy(folder, proxy, identity)));
  while (cluster.gatewayPorts().size === 0) await delay(100);

  printLine(`traffic for ${seconds} s`);
  const from = Date.now() / 1000;
  const end = new AbortController();
  const tally = new Tally();
  const timer = setTimeout(() => end.abort(), seconds * 1000);
  await Promise.all([
    ...proxies.map(({ host }) => runClients(host, cluster, tally, end.signal)),
    changeRoutes(cluster, end.signal),
    restartBackends(cluster, instances, end.signal),
    misfortunes(folder, first, started, seconds, end.signal, printLine),
  ]);
  clearTimeout(timer);
  printLine(tally.summary);
  return { prometheus, from, to: Date.now() / 1000 };
}

function startController(folder: string, index: 0 | 1): Promise<Gateway> {
  const { name, healthPort, discoveryPort } = controllers[index];
  return startGateway("controller", {
    ...{ name, folder, healthPort },
    flags: {
      "discovery-port": discoveryPort,
      "discovery-bootstrap-port": discoveryPort + 1,
      "jwks-allow-cidrs": `127.0.0.0/8,::1/128,${address}/32`,
      "management-bind-address": "127.0.0.1",
    },
  });
}

const startProxy = (
  folder: string,
  { name, host, healthPort }: (typeof proxies)[number],
  { tokenPath, trustPath }: Awaited<ReturnType<RunCluster["proxyIdentity"]>>,
): Promise<Gateway> =>
  startGateway("proxy", {
    ...{ name, folder, healthPort },
    flags: {
      shared: true,
      "proxy-workers": 2,
      "proxy-bind-address": host,
      "management-bind-address": "127.0.0.1",
      "discovery-endpoint": `127.0.0.1:${controllers[0].discoveryPort}`,
      "discovery-sa-token-path": tokenPath,
      "discovery-ca-bundle-path": trustPath,
      "proxy-client-header-timeout": "2s",
      "access-log": "false",
    },
  });

async function runClients(
  host: string,
  cluster: RunCluster,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const stage = { host, port: 80, tally, signal };
  const several = (count: number, run: () => Promise<void>): readonly Promise<void>[] =>
    Array.from({ length: count }, run);
  await Promise.all([
    ...several(40, () => runHttp1(stage, "small")),
    ...several(4, () => runHttp1(stage, "upload")),
    ...several(4, () => runHttp1(stage, "download")),
    ...several(6, () => runHttp2(stage)),
    ...several(4, () => runGrpc(stage)),
    ...several(8, () => runWebSocket(stage)),
    runTroubles({ host, ports: cluster.gatewayPorts(), signal }),
  ]);
}

async function changeRoutes(cluster: RunCluster, signal: AbortSignal): Promise<void> {
  for (let version = 1; await pause(5000, signal); version++) cluster.put([versionedRoute(version)]);
}

async function restartBackends(
  cluster: RunCluster,
  instances: Instance[],
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; await pause(20_000, signal); turn++) {
    const [old] = instances.splice(turn % instances.length, 1, await startInstance(address));
    cluster.put(endpointObjects(instances, address));
    await pause(2000, signal);
    await old?.stop();
  }
}

/** Stops a proxy for a while, so that it falls behind, and then replaces the leader. */
async function misfortunes(
  folder: string,
  leader: Gateway,
  started: readonly Gateway[],
  seconds: number,
  signal: AbortSignal,
  printLine: (line: string) => void,
): Promise<void> {
  await pause(seconds * 300, signal);
  const stopped = started[1]?.pid ?? 0;
  printLine("a proxy stops for 15 s");
  process.kill(stopped, "SIGSTOP");
  await pause(15_000, signal);
  process.kill(stopped, "SIGCONT");
  await pause(seconds * 300, signal);
  printLine("the leader ends for 10 s");
  await leader.stop();
  await pause(10_000, signal);
  await startController(folder, 0);
}
