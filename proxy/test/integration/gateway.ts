import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from "node:http";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort, ClientRules } from "@svc-gateway/common/ir/client-certificate.ts";
import { clientCertKey, endpointsKey, listenerKey, routeKey, tlsKey } from "@svc-gateway/common/ir/keys.ts";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Backend, HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { createSnapshot, diffSnapshots, fullUpdate, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { readStandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { http1Codec } from "../http1-codecs.ts";
import { http2Codec } from "../http2-codecs.ts";
import { openLayers, socketLayer } from "../socket-layers.ts";
import type { SharedMemory } from "../../src/shared/shared-memory.ts";
import { startProxy, type Proxy, type ProxyOptions } from "../../src/proxy.ts";
import type { AccessRecord } from "../../src/telemetry/access-record.ts";
import { createProxyMetrics, type ProxyMetrics } from "../../src/telemetry/metrics.ts";
import { recordingLog } from "../telemetry/recording-log.ts";

/** The configuration that a test serves: hosts with backends on loopback. */
export type Plan = {
  readonly ports: readonly number[];
  readonly protocol?: "http1" | "http2";
  readonly hosts?: readonly string[];
  readonly features?: Route["features"];
  readonly pathLevel?: HostRoutes["pathLevel"];
  /** The path of the route; by default the prefix `/`. */
  readonly path?: Route["match"]["path"];
  /** Additional settings of the backend of the route. */
  readonly backend?: Partial<Backend>;
  /** Additional settings of the route. */
  readonly route?: Partial<Route>;
  /** Routes that precede it. */
  readonly before?: readonly Route[];
  /** Additional settings of the listener of port 80. */
  readonly listener?: Partial<Listener>;
  /** Resources that features name. */
  readonly resources?: readonly Resource[];
  /** False suppresses access-log lines of the route. */
  readonly accessLog?: boolean;
  /** Port 443 is served with this certificate for the host `*`. */
  readonly certificate?: { readonly chainPem: string; readonly keyPem: string };
  /** Certificates of port 443 by host, instead of the one above. */
  readonly certificates?: TlsPort;
  /** The ports that clients of the Ingresses see. */
  readonly publicPorts?: { readonly http: number; readonly https: number };
  /** The BackendTLSPolicy of the backends, among `resources`. */
  readonly backendTls?: string;
  /** Additional settings of the endpoint set of the backends. */
  readonly set?: Partial<EndpointSet>;
  /** The Gateway whose certificate is presented to the backends. */
  readonly backendCertificate?: string;
  /** Client certificates of port 443. */
  readonly clientCerts?: ClientCertPort;
  /** The client certificate rules of hosts, and those of the route on all hosts. */
  readonly clients?: { readonly hosts?: Readonly<Record<string, ClientRules>>; readonly route?: ClientRules };
};

export type Gateway = {
  readonly proxy: Proxy;
  readonly metrics: ProxyMetrics;
  readonly records: AccessRecord[];
  readonly port: number;
  readonly tlsPort: number;
  /** The plan that is currently served. */
  readonly plan: Plan;
  update(plan: Plan): void;
  close(): Promise<void>;
};

export const routeId = "ingress/ns/web:0.0";

const certificatesOf = ({ certificate, certificates }: Plan): TlsPort | undefined =>
  certificates ??
  (certificate && {
    certificates: { demo: certificate },
    hosts: [{ bucket: "default", host: "*", certificates: ["demo"] }],
  });

function resourcesOf(plan: Plan): readonly Resource[] {
  const certificates = certificatesOf(plan);
  const { protocol = "http1", hosts = ["a.example"] } = plan;
  const backend = { weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol, ...plan.backend };
  const route: Route = {
    id: routeId,
    source: { kind: "Ingress", namespace: "ns", name: "web" },
    match: { path: plan.path ?? { type: "prefix", value: "/" } },
    backends: [backend],
    ...(plan.features === undefined ? {} : { features: plan.features }),
    ...(plan.accessLog === undefined ? {} : { accessLog: plan.accessLog }),
    ...(plan.clients?.route && { clients: plan.clients.route }),
    ...plan.route,
  };
  const table: HostRoutes = {
    listener: "ingress",
    inherit: false,
    pathLevel: plan.pathLevel,
    ...(plan.backendCertificate !== undefined && { clientCertificate: plan.backendCertificate }),
    routes: [...(plan.before ?? []), route],
  };
  const addresses = [...plan.ports].sort((a, b) => a - b).map((port) => ({ host: "127.0.0.1", port }));
  const tableOf = (host: string): HostRoutes => {
    const clients = plan.clients?.hosts?.[host];
    return clients === undefined ? table : { ...table, clients };
  };
  const resources = [80, 443].flatMap((port) =>
    hosts.map((host) =>
      encodeResource<"route">(routeKey("ingress", port, { kind: "exact", host }), tableOf(host)),
    ),
  );
  resources.push(
    encodeResource<"endpoints">(endpointsKey("ns/web/80"), {
      service: "ns/web",
      resolve: "static",
      addresses,
      ...(plan.backendTls !== undefined && { tls: plan.backendTls }),
      ...plan.set,
    }),
    encodeResource<"listener">(listenerKey("ingress"), {
      listeners: [
        { port: 80, publicPort: plan.publicPorts?.http ?? 80, protocol: "http", ...plan.listener },
        ...(certificates === undefined
          ? []
          : [{ port: 443, publicPort: plan.publicPorts?.https ?? 443, protocol: "https" as const }]),
      ],
    }),
  );
  if (certificates !== undefined) resources.push(encodeResource<"tls">(tlsKey(443), certificates));
  if (plan.clientCerts !== undefined) {
    resources.push(encodeResource<"clientcert">(clientCertKey(443), plan.clientCerts));
  }
  return [...resources, ...(plan.resources ?? [])];
}

/**
 * Starts a whole data plane. It uses free ports unless `flags`, those of `serve standalone`, map them otherwise.
 * `memory` is the memory that its workers would share.
 */
export async function startGateway(
  plan: Plan,
  flags: readonly string[] = [],
  memory?: SharedMemory,
  options: Partial<Pick<ProxyOptions, "responseMemoryBytes" | "accessLog" | "spanSink">> = {},
): Promise<Gateway> {
  const free = flags.some((flag) => flag.startsWith("--port-map")) ? [] : ["--port-map=80=0,443=0"];
  const argv = [
    "--manifests",
    ".",
    ...free,
    ...defaultFlags().filter((flag) => !flags.some((given) => given.startsWith(nameOf(flag)))),
    ...flags,
  ];
  const read = readStandaloneSettings({ argv, env: {} });
  if (!read.ok) throw new Error(read.error.message);
  const metrics = createProxyMetrics();
  const records: AccessRecord[] = [];
  await openLayers();
  const proxy = startProxy({
    ...options,
    settings: read.value.settings,
    metrics,
    sockets: socketLayer(),
    log: silentLogger,
    ...(memory !== undefined && { workerPlace: { worker: 0, workers: 1, memory } }),
    accessLog: options.accessLog ?? recordingLog(records),
  });
  let snapshot: Snapshot | undefined;
  let served = plan;
  const update = (next: Plan): void => {
    const after = createSnapshot(resourcesOf(next));
    const result = proxy.apply(snapshot === undefined ? fullUpdate(after) : diffSnapshots(snapshot, after));
    if (!result.ok) throw new Error(result.error.message);
    snapshot = after;
    served = next;
  };
  update(plan);
  await proxy.settled();
  return {
    proxy,
    metrics,
    records,
    port: proxy.localPort(80) ?? 0,
    tlsPort: proxy.localPort(443) ?? 0,
    get plan() {
      return served;
    },
    update,
    close: () => proxy.shutdown(AbortSignal.abort()),
  };
}

/** Returns default flags, each of which applies unless a test sets the flag itself. */
const defaultFlags = (): readonly string[] => [
  "--proxy-shutdown-grace-period=100ms",
  `--http1-codec=${http1Codec()}`,
  `--http2-codec=${http2Codec()}`,
];
const nameOf = (flag: string): string => flag.slice(0, flag.indexOf("=") + 1);

/** A TCP server on loopback that a test scripts. */
export async function startTcp(
  onConnection: (socket: Socket) => void,
): Promise<{ readonly port: number; readonly server: Server; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    server,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

export type HttpUpstream = { readonly port: number; readonly server: HttpServer; close(): Promise<void> };

/** An HTTP/1.1 upstream on loopback. */
export async function startHttp(listener: RequestListener): Promise<HttpUpstream> {
  const server = createHttpServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    server,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Sends raw bytes, and returns everything that is received until the connection ends. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.write(bytes, "latin1");
  await new Promise<void>((resolve) => socket.on("close", () => resolve()));
  return text;
}

/** Resolves when the condition holds; checked at every turn of the event loop. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
