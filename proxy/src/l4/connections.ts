import type { Socket } from "node:net";
import type { ResponseMemory } from "../http/response-memory.ts";
import { resetSocket } from "../sockets/reset.ts";
import { type Piece, ReadBuffer } from "../sockets/read-buffer.ts";
import type { SocketLayer } from "../sockets/socket-layer.ts";
import type { TransportReceiver, TunnelEnd } from "../sockets/transport.ts";
import { joinTunnel } from "../sockets/tunnel.ts";
import type { ConnectionFailure, ConnectionLog, ConnectionRecord } from "../telemetry/connection-log.ts";
import type { ProxyMetrics } from "../telemetry/metrics.ts";
import { awake } from "../timing/awake-clock.ts";
import { connectEndpoint } from "../upstream/connect/connect-endpoint.ts";
import type { UpstreamClientOptions } from "../upstream/connect/options.ts";
import { isFaultOfEndpoint, reasonOfUpstream } from "../upstream/upstream-errors.ts";
import type { PickRequest, Selection, Upstream, UpstreamEndpoint } from "../upstream/upstream.ts";
import type { CompiledL4Route } from "./l4-table.ts";
import { Fields } from "../message/fields.ts";
import { errorTypeOf } from "./error-type.ts";

/** A client connection with its route, before anything is read from it. */
export type L4Connection = {
  /** The source of the client's bytes: the accepted socket, or the TLS socket on it. */
  readonly socket: Socket;
  /** The accepted socket, for resets. */
  readonly plain: Socket;
  /** The listener. Connections of one owner are destroyed together. */
  readonly owner: object;
  /** The listener port, and its label in metrics (`portLabel`). */
  readonly port: number;
  readonly portLabel: string;
  /** Address of the client, from the PROXY protocol header if there is one. */
  readonly clientIp: string;
  readonly secure: boolean;
  /** Server name of the TLS handshake; empty if there is none. */
  readonly serverName: string;
  readonly route: CompiledL4Route;
  /** Logs the connection; undefined if it is not logged. */
  readonly log: ConnectionLog | undefined;
};

export type L4ConnectionOptions = Pick<
  UpstreamClientOptions,
  "connectTimeoutMs" | "resolver" | "ownPorts"
> & {
  /** The longest time without a byte in either direction, in milliseconds, 0 = no limit. */
  readonly idleTimeoutMs: number;
  /** Reads and writes the bytes of both connections. */
  readonly sockets: SocketLayer;
  /** Counts the bytes that wait for clients. */
  readonly responseMemory: ResponseMemory;
  readonly metrics: Pick<
    ProxyMetrics,
    | "upstreamErrors"
    | "upstreamConnections"
    | "upstreamConnect"
    | "limitsReached"
    | "connectionReceivedBytes"
    | "connectionSentBytes"
  >;
};

/** The most endpoints that are tried for one connection before it is reset. */
const maxAttempts = 3;

/**
 * The connections of a worker that are forwarded unchanged (docs/features/l4.md), each to an endpoint of its route.
 * Bytes and half-closes are relayed in both directions. No bytes are stored beyond those that the sockets hold, which
 * are bounded.
 */
export class L4Connections {
  private readonly options: L4ConnectionOptions;
  private readonly relays = new Set<Relay>();

  constructor(options: L4ConnectionOptions) {
    this.options = options;
  }

  accept(connection: L4Connection): void {
    const relay = new Relay(connection, this.options, () => this.relays.delete(relay));
    this.relays.add(relay);
    relay.connect();
  }

  /** Resets the connections of an owner; returns their number. */
  destroy(owner: object): number {
    const owned = [...this.relays].filter((relay) => relay.owner === owner);
    for (const relay of owned) relay.abort(failures.shutdown);
    return owned.length;
  }

  /** Resets connections that have exceeded the idle timeout. `nowMs` is on the awake clock. */
  sweep(nowMs: number): void {
    const { idleTimeoutMs, metrics } = this.options;
    if (idleTimeoutMs === 0) return;
    for (const relay of this.relays) {
      if (nowMs - relay.lastActivityMs < idleTimeoutMs) continue;
      metrics.limitsReached.with({ limit: "tunnel-idle-timeout" }).inc();
      relay.abort(failures.idle);
    }
  }
}

class Relay {
  lastActivityMs = awake.nowMs;
  private readonly connection: L4Connection;
  private readonly options: L4ConnectionOptions;
  private readonly onEnd: () => void;
  private readonly tried = new Set<UpstreamEndpoint>();
  /** Cancels the connect or tunnel to the endpoint. */
  private cancel: () => void = () => {};
  private readonly onClientClosed = (): void => this.abort(failures.client);
  private readonly startedAtMs = performance.now();
  private bytesReceived = 0;
  private bytesSent = 0;
  /** The Service and address of the last attempt; empty before the first one. */
  private upstreamService = "";
  private upstreamAddress = "";
  private ended = false;

  constructor(connection: L4Connection, options: L4ConnectionOptions, onEnd: () => void) {
    this.connection = connection;
    this.options = options;
    this.onEnd = onEnd;
    // Only an error closes the socket at this point, because nothing is read from it yet.
    connection.socket.once("close", this.onClientClosed);
  }

  get owner(): object {
    return this.connection.owner;
  }

  /** Labels of the metrics of the route. */
  private get labels(): { readonly listener: string; readonly route: string } {
    const { portLabel: listener, route } = this.connection;
    return { listener, route: route.route.id };
  }

  connect(): void {
    const upstream = this.connection.route.pickUpstream();
    if (upstream === undefined) return this.refuse("", failures.backend);
    this.connectTo(upstream);
  }

  abort(failure?: ConnectionFailure): void {
    if (this.ended) return;
    this.ended = true;
    this.cancel();
    reset(this.connection);
    this.onEnd();
    this.connection.log?.(this.record(failure));
  }

  private record(failure: ConnectionFailure | undefined): ConnectionRecord {
    const { connection, tried } = this;
    return {
      protocol: connection.secure ? "tls" : "tcp",
      listener: connection.port,
      serverName: connection.serverName,
      routeId: connection.route.route.id,
      upstream: this.upstreamService,
      upstreamAddr: this.upstreamAddress,
      clientIp: connection.clientIp,
      durationMs: performance.now() - this.startedAtMs,
      bytesReceived: this.bytesReceived,
      bytesSent: this.bytesSent,
      attempts: tried.size,
      failure,
    };
  }

  private connectTo(upstream: Upstream): void {
    const { tried } = this;
    const selection = upstream.pick(this.pickRequest(), tried.size === 0 ? undefined : tried);
    this.upstreamService = upstream.service;
    if (selection === undefined) return this.refuse(upstream.service, failures.endpoint);
    const { endpoint, watch } = selection;
    const isLast = tried.has(endpoint);
    tried.add(endpoint);
    this.upstreamAddress = endpoint.address;
    const memory = new ReadBuffer();
    const early = new EarlyBytes();
    const dialling = this.options.sockets.dial(memory, early, endpoint.tls !== undefined);
    const { onread } = dialling;
    const options = { ...this.options, allowHalfOpen: true, ...(onread && { onread }) };
    const startedMs = performance.now();
    const attempt = connectEndpoint(endpoint, options, (connected) => {
      if (connected.ok) {
        options.metrics.upstreamConnect.with(this.labels).observe((performance.now() - startedMs) / 1000);
        const transport = dialling.opened(connected.value.socket);
        return this.join({ transport, head: early.bytes, memory, abort: () => transport.reset() }, selection);
      }
      // The watch of a failed attempt ends here, so an abort must not end it again.
      this.cancel = () => {};
      if (isFaultOfEndpoint(connected.error)) watch?.failed();
      watch?.ended();
      this.count(upstream.service, errorTypeOf(connected.error));
      if (isLast || tried.size >= maxAttempts) {
        const { error } = connected;
        this.abort({ error: error.text, reason: reasonOfUpstream(error) });
      } else this.connectTo(upstream);
    });
    this.cancel = () => {
      attempt.cancel();
      watch?.ended();
    };
  }

  private join(upstream: TunnelEnd, { watch }: Selection): void {
    const { connection, options } = this;
    connection.socket.off("close", this.onClientClosed);
    options.metrics.upstreamConnections.with({ state: "new" }).inc();
    const received = options.metrics.connectionReceivedBytes.with(this.labels);
    const sent = options.metrics.connectionSentBytes.with(this.labels);
    watch?.responded(200);
    this.lastActivityMs = awake.nowMs;
    const tunnel = joinTunnel(
      {
        transport: options.sockets.take(connection.socket),
        head: nothing,
        abort: () => reset(connection),
      },
      upstream,
      {
        onProgress: (clientBytes, upstreamBytes) => {
          this.lastActivityMs = awake.nowMs;
          this.bytesSent += clientBytes;
          this.bytesReceived += upstreamBytes;
          sent.inc(clientBytes);
          received.inc(upstreamBytes);
        },
        onEnd: () => {
          watch?.ended();
          this.cancel = () => {};
          this.abort();
        },
      },
      options.responseMemory,
    );
    this.cancel = () => tunnel.cancel();
  }

  /** Refuses the connection, because there is no endpoint to connect to. */
  private refuse(service: string, failure: ConnectionFailure): void {
    this.count(service, "other");
    this.abort(failure);
  }

  private count(upstream: string, type: "refused" | "connect" | "timeout" | "tls" | "other"): void {
    this.options.metrics.upstreamErrors.with({ ...this.labels, upstream, error_type: type }).inc();
  }

  /** Returns the input of balancers. Without a request, they can use only the client address. */
  private pickRequest(): PickRequest {
    const { clientIp, secure, route } = this.connection;
    return {
      clientIp,
      secure,
      routeId: route.route.id,
      host: "",
      path: "",
      query: "",
      headers: noFields,
      received: noFields,
    };
  }
}

const nothing = Buffer.alloc(0);

/** Keeps the bytes that an endpoint sends before its tunnel starts: at most those read with the end of a handshake. */
class EarlyBytes implements TransportReceiver {
  bytes: Buffer = nothing;

  receive({ bytes }: Piece): void {
    this.bytes = Buffer.concat([this.bytes, bytes]);
  }
  ended(): void {}
  taken(): void {}
  closed(): void {}
}

const noFields = Fields.none();

/** The failures of connections that are not caused by an endpoint (docs/reference/refusals.md). */
const failures = {
  shutdown: { error: "proxy shutting down", reason: "shutting-down" },
  idle: { error: "idle timeout", reason: "idle-timeout" },
  client: { error: "client closed", reason: "client-closed" },
  backend: { error: "no backend", reason: "no-backend" },
  endpoint: { error: "no endpoint", reason: "no-endpoint" },
} as const satisfies Readonly<Record<string, ConnectionFailure>>;

function reset({ socket, plain }: L4Connection): void {
  resetSocket(plain);
  socket.destroy();
}
