import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { Listener as ListenerPlan } from "@svc-gateway/common/ir/listener.ts";
import { type Logger, silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { compileCidrs } from "@svc-gateway/common/values/cidr.ts";
import type { ClientConnection } from "../../src/exchange/client-connection.ts";
import type { PortTable } from "../../src/exchange/port-table.ts";
import type { RequestHandler } from "../../src/http/front.ts";
import { createNativeHttp2Front } from "../../src/http/h2/native/front.ts";
import { createHttp2Front } from "../../src/http/h2/node/front.ts";
import { ResponseMemory } from "../../src/http/response-memory.ts";
import { createL4 } from "../../src/l4/l4.ts";
import { UdpPlaces } from "../../src/l4/udp-places.ts";
import { ConnectionGate } from "../../src/listeners/connection-gate.ts";
import type { ListenerEvents } from "../../src/listeners/listener-events.ts";
import {
  createListenerManager,
  type ListenerManager,
  type ListenerManagerOptions,
} from "../../src/listeners/manager.ts";
import type { ProxyProtocolSettings } from "../../src/listeners/proxy-protocol/header-policy.ts";
import { SilentConnections } from "../../src/listeners/silent-connections.ts";
import type { ClientStream, RequestHead } from "../../src/message/message.ts";
import { emptyPortTable } from "../../src/routing/changing-port-table.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";
import { createResolver } from "../../src/upstream/resolver.ts";
import { createFrontOfCodec } from "../http1-codecs.ts";
import { http2Codec } from "../http2-codecs.ts";
import { RawClient, wideLimits } from "../http/h1/harness.ts";
import { socketLayer } from "../socket-layers.ts";
import { wideSettings } from "../tls/harness.ts";

/** The events of listeners, in order: `added`, `opened 80`, `bound 80,443`, ... */
export class EventLog implements ListenerEvents {
  readonly lines: string[] = [];
  names: readonly string[] = [];

  /** The lines that begin with one of the words. */
  of(...words: readonly string[]): string[] {
    return this.lines.filter((line) => words.includes(line.split(" ")[0] as string));
  }

  onLifecycle(event: string): void {
    this.lines.push(event);
  }
  onDrained(durationMs: number): void {
    this.lines.push(durationMs >= 0 ? "drained" : "negative duration");
  }
  onListeners({ serving, draining }: { readonly serving: number; readonly draining: number }): void {
    this.lines.push(`listeners ${serving}/${draining}`);
  }
  onBoundPorts(ports: readonly number[]): void {
    this.lines.push(`bound ${ports.join()}`);
  }
  onConnectionOpened(listener: string): void {
    this.lines.push(`opened ${listener}`);
  }
  onConnectionClosed(listener: string, durationMs: number): void {
    this.lines.push(durationMs >= 0 ? `closed ${listener}` : "negative duration");
  }
  onConnectionRefused(listener: string, limit: string): void {
    this.lines.push(`refused ${listener} ${limit}`);
  }
  onSilentConnectionEnded(): void {
    this.lines.push("silent connection ended");
  }
  onFirstByteTimeout(): void {
    this.lines.push("first-byte-timeout");
  }
  onProxyHeaderRefused(reason: string): void {
    this.lines.push(reason);
  }
  onRequestsForceClosed(reason: string, requests: number): void {
    this.lines.push(`cut ${reason} ${requests}`);
  }
  onHandshake({ result, version }: { readonly result: string; readonly version: string }): void {
    this.lines.push(`handshake ${result} ${version}`);
  }
  onServedNames(names: readonly { readonly bucket: string; readonly name: string }[]): void {
    this.names = names.map(({ bucket, name }) => `${bucket} ${name}`);
  }
}

export type SeenRequest = {
  readonly connection: ClientConnection;
  readonly head: RequestHead;
  readonly client: ClientStream;
};

export type ManagerUnderTest = {
  readonly manager: ListenerManager;
  /** The address of its listeners. */
  readonly address: string;
  readonly events: EventLog;
  readonly errors: string[];
  readonly warnings: string[];
  /** The requests that reached the handler, oldest first. */
  readonly seen: SeenRequest[];
};

const running: ListenerManager[] = [];
const clients: RawClient[] = [];
const others: (() => unknown)[] = [];

/** A whole request. */
export const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** Settings without the PROXY protocol, unless a listener sets it. */
export const noProxyProtocol: ProxyProtocolSettings = {
  accepted: false,
  trustedPeers: compileCidrs([]),
  timeoutMs: 60_000,
};
const metrics = createProxyMetrics();
const resolver = createResolver();
const immediately = { acceptMs: 0, graceMs: 0, timeoutMs: 0 };

/** Starts a manager whose listener ports are bound to free local ports. The handler may leave requests to the test. */
export function startManager(
  options: Partial<ListenerManagerOptions> = {},
  handler?: RequestHandler,
): ManagerUnderTest {
  const address = options.bindAddress ?? "127.0.0.1";
  const events = new EventLog();
  const seen: SeenRequest[] = [];
  const errors: string[] = [];
  const warnings: string[] = [];
  const log: Logger = {
    ...silentLogger,
    error: (_, message) => errors.push(message),
    warn: (_, message) => warnings.push(message),
  };
  const front = {
    limits: wideLimits,
    handler: (connection: ClientConnection, head: RequestHead, client: ClientStream) => {
      seen.push({ connection, head, client });
      handler?.(connection, head, client);
    },
    onEvent: () => {},
  };
  const manager = createListenerManager({
    bindAddress: address,
    portMap: new Map([80, 81, 443].map((port) => [port, 0])),
    reusePort: false,
    reportsFailures: true,
    proxyProtocol: noProxyProtocol,
    gate: new ConnectionGate(1000),
    silent: new SilentConnections(1000),
    maxConnections: 0,
    drainTimeoutMs: 60_000,
    firstByteTimeoutMs: 60_000,
    tls: wideSettings,
    acceptor: socketLayer().acceptor,
    l4: createL4({
      connections: {
        connectTimeoutMs: 60_000,
        idleTimeoutMs: 0,
        sockets: socketLayer(),
        responseMemory: new ResponseMemory(),
        resolver,
        metrics,
      },
      udp: {
        idleTimeoutMs: 0,
        places: new UdpPlaces({ all: 100, ofListener: 100 }),
        resolver,
        metrics,
        now: () => performance.now(),
      },
    }),
    createHttp1Front: () => createFrontOfCodec(front),
    createHttp2Front: () =>
      http2Codec() === "native" ? createNativeHttp2Front(front, socketLayer()) : createHttp2Front(front),
    events,
    log,
    ...options,
  });
  running.push(manager);
  return { manager, address, events, errors, warnings, seen };
}

/** Registers something that is closed with the managers. */
export function closeLater(close: () => unknown): void {
  others.push(close);
}

/** Closes all managers, the clients that were connected to them, and everything that was registered with them. */
export async function stopManagers(): Promise<void> {
  for (const client of clients.splice(0)) client.socket.destroy();
  for (const manager of running.splice(0)) await manager.shutdown(immediately, AbortSignal.abort());
  for (const close of others.splice(0)) close();
}

/** A client of a listener port. */
export async function connect({ manager, address }: ManagerUnderTest, port = 80): Promise<RawClient> {
  const client = await RawClient.connect(manager.localPort(port) as number, address);
  clients.push(client);
  return client;
}

/** A client of listener port 443 that asks for `a.example`, once its handshake is done. */
export function connectSecure(
  { manager }: ManagerUnderTest,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      port: manager.localPort(443) as number,
      host: "127.0.0.1",
      servername: "a.example",
      rejectUnauthorized: false,
      ...options,
    });
    socket.once("secureConnect", () => resolve(socket));
    socket.once("error", reject);
    closeLater(() => socket.destroy());
  });
}

export const http = (port: number, publicPort = port): ListenerPlan => ({
  port,
  publicPort,
  protocol: "http",
});
export const https = (port: number): ListenerPlan => ({ port, publicPort: port, protocol: "https" });

/** A plan with the same table and certificates on every port. */
export const plan = (
  listeners: readonly ListenerPlan[],
  { table = emptyPortTable, tls }: { readonly table?: PortTable; readonly tls?: TlsPort } = {},
): Parameters<ListenerManager["apply"]>[0] => ({
  listeners: listeners.map((listener) => ({
    ...listener,
    owner: "ns/gw",
    publicPorts: { gateway: listener.publicPort },
  })),
  tables: new Map(listeners.map(({ port }) => [port, table])),
  l4: new Map(),
  tls: new Map(tls === undefined ? [] : listeners.map(({ port }) => [port, tls])),
  clientCerts: new Map(),
  ticketKeys: undefined,
});
