import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { endpointsKey, l4Key, listenerKey, routeKey, tlsKey } from "@svc-gateway/common/ir/keys.ts";
import type { L4Host, L4Route } from "@svc-gateway/common/ir/l4.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, diffSnapshots, fullUpdate, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import { readStandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { startProxy, type WorkerPlace, type Proxy } from "../../src/proxy.ts";
import { noAccessLog } from "../../src/telemetry/access-log.ts";
import type { ConnectionRecord } from "../../src/telemetry/connection-log.ts";
import { createProxyMetrics, type ProxyMetrics } from "../../src/telemetry/metrics.ts";
import { openLayers, socketLayer } from "../socket-layers.ts";

/** The routes of a test, on the listener ports 9000 (TCP), 9443 (TLS, and HTTPS with `https`) and 5300 (UDP). */
export type L4Plan = {
  readonly tcp?: L4Route | undefined;
  readonly tls?: readonly L4Host[];
  readonly certificates?: TlsPort;
  readonly https?: boolean;
  readonly udp?: L4Route | undefined;
  /** Ports on loopback, by endpoint set. */
  readonly endpoints: { readonly [set: string]: readonly number[] };
  readonly policy?: EndpointSet["policy"];
  /** The BackendTLSPolicy of all endpoint sets, among `resources`. */
  readonly backendTls?: string;
  /** Additional resources of the snapshot. */
  readonly resources?: readonly Resource[];
};

export type L4Gateway = {
  readonly proxy: Proxy;
  readonly metrics: ProxyMetrics;
  /** Connections and sessions that have ended. */
  readonly connections: readonly ConnectionRecord[];
  readonly tcpPort: number;
  readonly tlsPort: number;
  readonly udpPort: number;
  update(plan: L4Plan): Promise<void>;
  /** Returns the samples of a metric in the form `labels value`. */
  samples(name: string): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** Returns a route with these endpoint sets and weights; an empty name yields a broken backend. */
export const l4Route = (...backends: readonly (readonly [set: string, weight: number])[]): L4Route => ({
  id: "tcproute/ns/db:0",
  source: { kind: "TCPRoute", namespace: "ns", name: "db" },
  backends: backends.map(([set, weight]) => ({
    weight,
    service: set === "" ? "ns/missing" : set.split("/").slice(0, 2).join("/"),
    ...(set === "" ? {} : { endpoints: set }),
  })),
});

export const anyHost = { kind: "any", host: "*" } as const;

function resourcesOf(plan: L4Plan): readonly Resource[] {
  const listener = (port: number, protocol: Listener["protocol"]): Listener => ({
    port,
    publicPort: port,
    protocol,
  });
  const hosts = (route: L4Route | undefined): { readonly hosts: readonly L4Host[] } => ({
    hosts: [{ ...anyHost, mode: "passthrough", ...(route && { route }) }],
  });
  const listeners = [
    ...("udp" in plan ? [listener(5300, "udp")] : []),
    ...("tcp" in plan ? [listener(9000, "tcp")] : []),
    ...(plan.https === true ? [listener(9443, "https")] : []),
    ...(plan.tls === undefined ? [] : [listener(9443, "tls")]),
  ];
  return [
    encodeResource<"listener">(listenerKey("ns/edge"), { listeners }),
    ...Object.entries(plan.endpoints).map(([name, ports]) =>
      encodeResource<"endpoints">(endpointsKey(name), {
        service: name.split("/").slice(0, 2).join("/"),
        resolve: "static",
        addresses: ports.toSorted((a, b) => a - b).map((port) => ({ host: "127.0.0.1", port })),
        ...(plan.policy && { policy: plan.policy }),
        ...(plan.backendTls !== undefined && { tls: plan.backendTls }),
      }),
    ),
    ...("tcp" in plan ? [encodeResource<"l4">(l4Key("tcp", 9000), hosts(plan.tcp))] : []),
    ...("udp" in plan ? [encodeResource<"l4">(l4Key("udp", 5300), hosts(plan.udp))] : []),
    ...(plan.tls === undefined ? [] : [encodeResource<"l4">(l4Key("tls", 9443), { hosts: plan.tls })]),
    ...(plan.certificates === undefined ? [] : [encodeResource<"tls">(tlsKey(9443), plan.certificates)]),
    ...(plan.https === true
      ? [
          encodeResource<"route">(routeKey("gateway", 9443, anyHost), {
            listener: "https",
            inherit: true,
            routes: [],
          }),
        ]
      : []),
    ...(plan.resources ?? []),
  ];
}

/** Starts a whole data plane, on free ports unless `flags`, those of `serve standalone`, map them otherwise. */
export async function startL4(
  plan: L4Plan,
  flags: readonly string[] = [],
  workerPlace?: WorkerPlace,
): Promise<L4Gateway> {
  const free = flags.some((flag) => flag.startsWith("--port-map")) ? [] : ["--port-map=9000=0,9443=0,5300=0"];
  const ports = [...free, "--proxy-bind-address", "127.0.0.1"];
  const argv = ["--manifests", ".", ...ports, "--proxy-shutdown-grace-period=100ms", ...flags];
  const read = readStandaloneSettings({ argv, env: {} });
  if (!read.ok) throw new Error(read.error.message);
  const metrics = createProxyMetrics();
  const connections: ConnectionRecord[] = [];
  await openLayers();
  const proxy = startProxy({
    settings: read.value.settings,
    metrics,
    sockets: socketLayer(),
    log: silentLogger,
    ...(workerPlace && { workerPlace }),
    accessLog: noAccessLog,
    connectionLog: (record) => void connections.push(record),
  });
  let snapshot: Snapshot | undefined;
  const update = async (next: L4Plan): Promise<void> => {
    const after = createSnapshot(resourcesOf(next));
    const result = proxy.apply(snapshot === undefined ? fullUpdate(after) : diffSnapshots(snapshot, after));
    if (!result.ok) throw new Error(result.error.message);
    snapshot = after;
    await proxy.settled();
  };
  await update(plan);
  return {
    proxy,
    metrics,
    connections,
    get tcpPort() {
      return proxy.localPort(9000) ?? 0;
    },
    get tlsPort() {
      return proxy.localPort(9443) ?? 0;
    },
    get udpPort() {
      return proxy.localPort(5300) ?? 0;
    },
    update,
    async samples(name) {
      const { body } = await metrics.expose();
      return body
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`))
        .map((line) => line.slice(name.length));
    },
    close: () => proxy.shutdown(AbortSignal.abort()),
  };
}

/** Sends bytes and half-closes after the handshake. Resolves to the received text, with the code of any error. */
export async function sendOverTls(socket: TLSSocket, bytes: string): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.on("error", (error: NodeJS.ErrnoException) => (text += `[${error.code}]`));
  socket.on("secureConnect", () => socket.end(bytes));
  await once(socket, "close").catch(() => undefined);
  return text;
}
