import { createSocket, type Socket } from "node:dgram";
import { isIP } from "node:net";
import { networkOf } from "@svc-gateway/common/values/client-network.ts";
import type { Counter } from "@svc-gateway/common/telemetry/metric-family.ts";
import type { Origin } from "../fairness/listener-holdings.ts";
import { Fields } from "../message/fields.ts";
import type { ConnectionFailure, ConnectionLog } from "../telemetry/connection-log.ts";
import type { ProxyMetrics } from "../telemetry/metrics.ts";
import type { OwnPortGuard } from "../upstream/own-port-guard.ts";
import type { Resolver } from "../upstream/resolver.ts";
import type { Selection, Upstream, UpstreamEndpoint } from "../upstream/upstream.ts";
import {
  connectError,
  isFaultOfEndpoint,
  nameError,
  ownPortError,
  reasonOfUpstream,
  type UpstreamError,
} from "../upstream/upstream-errors.ts";
import { errorTypeOf } from "./error-type.ts";
import type { CompiledL4Route } from "./l4-table.ts";
import type { PlaceHolder, UdpPlaces } from "./udp-places.ts";

/** The sender of a datagram. `address` is as the socket reports it, `ip` is the form for balancers and policies. */
export type UdpClient = { readonly address: string; readonly port: number; readonly ip: string };

/** The reason why a datagram was dropped, a value of the `reason` label of `svc_proxy_udp_datagrams_dropped_total`. */
export type DropReason =
  /** The listener has no route, or the weights selected a backend that cannot be used. */
  | "no-route"
  | "no-endpoint"
  | "session-limit"
  /** The datagram came from port 0, to which no reply can be sent (RFC 768). */
  | "source-port"
  /** The listener is draining, and the client has no session. */
  | "draining"
  /** Too much data is waiting to be sent. */
  | "overflow"
  /** No socket for the session, or no address for its endpoint. */
  | "error";

export type UdpSessionsOptions = {
  /** The longest time without a datagram in either direction, in milliseconds, 0 = no limit. */
  readonly idleTimeoutMs: number;
  /** Bounds the sessions of all listeners of the worker. */
  readonly places: UdpPlaces;
  readonly resolver: Resolver;
  /** Refuses the ports of the gateway itself; if absent, none is refused. */
  readonly ownPorts?: Pick<OwnPortGuard, "refuses">;
  readonly metrics: Pick<
    ProxyMetrics,
    | "udpSessions"
    | "udpSessionsActive"
    | "udpDatagramsDropped"
    | "upstreamErrors"
    | "limitsReached"
    | "connectionReceivedBytes"
    | "connectionSentBytes"
  >;
  /** Returns milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Logs sessions that have ended; if absent, they are not logged. */
  readonly log?: ConnectionLog | undefined;
};

/** Replaces name resolution for datagram sockets, which are only ever given addresses. */
export const noLookup = (
  address: string,
  _: unknown,
  done: (error: null, address: string, family: number) => void,
): void => done(null, address, isIP(address));

/** The most datagrams that wait until the socket of their session is open. */
const maxWaiting = 16;
/** The most bytes that wait in a socket to be sent. */
export const maxQueuedBytes = 256 * 1024;

/** If there is no room, a session that was idle for this share of its timeout can be evicted for a new one. */
const evictableShare = 1 / 4;
/** The idle time for the same purpose if sessions have no idle timeout. */
const evictableWithoutLimitMs = 2_500;
/** The most sessions that are examined to find an idle one. */
const maxLooks = 8;

type Session = PlaceHolder & {
  readonly origin: Origin;
  readonly client: UdpClient;
  readonly routeId: string;
  readonly upstream: Upstream;
  readonly selection: Selection;
  readonly startedAtMs: number;
  lastActivityMs: number;
  bytesReceived: number;
  bytesSent: number;
  /** Counters of received and sent bytes, over all sessions of the route. */
  readonly received: Counter;
  readonly sent: Counter;
  failure: ConnectionFailure | undefined;
  socket: Socket | undefined;
  /** The datagrams that wait until the socket is connected; undefined afterwards. */
  waiting: Buffer[] | undefined;
};

/**
 * The sessions of a UDP listener (docs/features/l4.md, "UDP"), one per address and port of a client. Each has a
 * dedicated socket to one endpoint, so that replies can be assigned to the client.
 */
export class UdpSessions {
  private readonly port: number;
  private readonly portLabel: string;
  private readonly reply: (message: Buffer, client: UdpClient) => void;
  private readonly options: UdpSessionsOptions;
  private readonly sessions = new Map<string, Session>();
  private draining = false;
  private onEmpty: (() => void) | undefined = undefined;

  constructor(
    port: number,
    reply: (message: Buffer, client: UdpClient) => void,
    options: UdpSessionsOptions,
  ) {
    this.port = port;
    this.portLabel = String(port);
    this.reply = reply;
    this.options = options;
  }

  /** Forwards a datagram. If its client has no session yet, one is opened by `route`. */
  receive(message: Buffer, client: UdpClient, route: CompiledL4Route | undefined): void {
    if (client.port === 0) return this.drop("source-port");
    const session = this.sessions.get(keyOf(client)) ?? this.open(client, route);
    if (session === undefined) return;
    session.lastActivityMs = this.options.now();
    session.bytesReceived += message.length;
    session.received.inc(message.length);
    const { socket, waiting } = session;
    if (waiting !== undefined) {
      if (waiting.length < maxWaiting) waiting.push(message);
      else this.drop("overflow");
    } else if (socket !== undefined && socket.getSendQueueSize() <= maxQueuedBytes) socket.send(message);
    else this.drop("overflow");
  }

  /**
   * Ends the sessions with backends that the route no longer has. Their clients get new ones on their next datagram.
   */
  follow(route: CompiledL4Route | undefined): void {
    const backends = route?.route.backends.filter(({ weight }) => weight > 0) ?? [];
    const kept = new Set(backends.map(({ endpoints }) => endpoints));
    this.closeWhere((session) => !kept.has(session.upstream.key));
  }

  /** Ends the sessions with removed endpoints. */
  retire(removed: ReadonlySet<UpstreamEndpoint>): void {
    this.closeWhere(({ selection }) => removed.has(selection.endpoint));
  }

  /** Ends sessions that have exceeded the idle timeout. */
  sweep(): void {
    const { idleTimeoutMs, now } = this.options;
    if (idleTimeoutMs === 0) return;
    const nowMs = now();
    this.closeWhere(({ lastActivityMs }) => nowMs - lastActivityMs >= idleTimeoutMs);
  }

  /** Stops opening sessions. Resolves when the last one has ended. */
  drain(): Promise<void> {
    this.draining = true;
    return new Promise((resolve) => {
      this.onEmpty = resolve;
      if (this.sessions.size === 0) resolve();
    });
  }

  /** Ends all sessions; returns their number. */
  destroy(): number {
    const cut = this.sessions.size;
    this.closeWhere(() => true);
    return cut;
  }

  /** Counts a dropped datagram. */
  drop(reason: DropReason): undefined {
    this.options.metrics.udpDatagramsDropped.with({ listener: this.portLabel, reason }).inc();
    return undefined;
  }

  private open(client: UdpClient, route: CompiledL4Route | undefined): Session | undefined {
    if (this.draining) return this.drop("draining");
    const upstream = route?.pickUpstream();
    if (route === undefined || upstream === undefined) return this.drop("no-route");
    const selection = upstream.pick({
      clientIp: client.ip,
      routeId: route.route.id,
      secure: false,
      host: "",
      path: "",
      query: "",
      headers: noFields,
      received: noFields,
    });
    if (selection === undefined) return this.drop("no-endpoint");
    const { metrics, resolver, places } = this.options;
    const origin = { listener: this.port, network: networkOf(client.ip) };
    if (!places.makeRoom(origin) && !this.evictIdle()) {
      selection.watch?.ended();
      return this.drop("session-limit");
    }
    const session: Session = {
      origin,
      evict: () => this.evict(session),
      client,
      routeId: route.route.id,
      upstream,
      selection,
      startedAtMs: this.options.now(),
      lastActivityMs: this.options.now(),
      bytesReceived: 0,
      bytesSent: 0,
      received: metrics.connectionReceivedBytes.with({ listener: this.portLabel, route: route.route.id }),
      sent: metrics.connectionSentBytes.with({ listener: this.portLabel, route: route.route.id }),
      failure: undefined,
      socket: undefined,
      waiting: [],
    };
    this.sessions.set(keyOf(client), session);
    places.add(origin, session);
    metrics.udpSessions.with({ listener: this.portLabel }).inc();
    metrics.udpSessionsActive.with({ listener: this.portLabel }).inc();
    const { host } = selection.endpoint;
    if (isIP(host) !== 0) this.connect(session, host);
    else {
      resolver.resolve(host, (addresses) => {
        const [address] = addresses.ok ? addresses.value : [];
        if (!this.isOpen(session)) return;
        if (address === undefined) this.fail(session, nameError);
        else this.connect(session, address);
      });
    }
    return this.isOpen(session) ? session : this.drop("error");
  }

  private connect(session: Session, address: string): void {
    const { endpoint, watch } = session.selection;
    if (this.options.ownPorts?.refuses(address, endpoint.port) === true)
      return this.fail(session, ownPortError);
    const socket = createSocket({
      type: isIP(address) === 6 ? "udp6" : "udp4",
      lookup: noLookup,
    });
    session.socket = socket;
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (!this.isOpen(session)) return;
      this.fail(session, connectError(error.code));
    });
    socket.on("message", (message) => {
      if (!this.isOpen(session)) return;
      session.lastActivityMs = this.options.now();
      session.bytesSent += message.length;
      session.sent.inc(message.length);
      watch?.responded(200);
      this.reply(message, session.client);
    });
    socket.connect(endpoint.port, address, () => {
      if (!this.isOpen(session)) return;
      const waiting = session.waiting ?? [];
      session.waiting = undefined;
      for (const message of waiting) socket.send(message);
    });
  }

  private fail(session: Session, error: UpstreamError): void {
    const { metrics } = this.options;
    const { routeId: route, upstream } = session;
    for (let waiting = session.waiting?.length ?? 0; waiting > 0; waiting--) this.drop("error");
    metrics.upstreamErrors
      .with({ listener: this.portLabel, route, upstream: upstream.service, error_type: errorTypeOf(error) })
      .inc();
    if (isFaultOfEndpoint(error)) session.selection.watch?.failed();
    session.failure = { error: error.text, reason: reasonOfUpstream(error) };
    this.close(session);
  }

  private evict(session: Session): void {
    this.options.metrics.limitsReached.with({ limit: "udp-sessions" }).inc();
    this.close(session);
  }

  /** Evicts a session if one of the first few is idle. Examined sessions that are not idle move to the end. */
  private evictIdle(): boolean {
    const { idleTimeoutMs, now } = this.options;
    const evictableMs = idleTimeoutMs > 0 ? idleTimeoutMs * evictableShare : evictableWithoutLimitMs;
    const nowMs = now();
    let looks = maxLooks;
    for (const [key, session] of this.sessions) {
      if (nowMs - session.lastActivityMs >= evictableMs) {
        this.evict(session);
        return true;
      }
      if (--looks === 0) break;
      this.sessions.delete(key);
      this.sessions.set(key, session);
    }
    return false;
  }

  private isOpen(session: Session): boolean {
    return this.sessions.get(keyOf(session.client)) === session;
  }

  private closeWhere(isOver: (session: Session) => boolean): void {
    for (const session of this.sessions.values()) if (isOver(session)) this.close(session);
  }

  private close(session: Session): void {
    this.sessions.delete(keyOf(session.client));
    this.options.places.delete(session.origin, session);
    session.socket?.close();
    session.selection.watch?.ended();
    this.options.metrics.udpSessionsActive.with({ listener: this.portLabel }).dec();
    if (this.options.log !== undefined) this.logEnd(session, this.options.log);
    if (this.sessions.size === 0) this.onEmpty?.();
  }

  private logEnd({ client, selection, upstream, ...session }: Session, log: ConnectionLog): void {
    log({
      protocol: "udp",
      listener: this.port,
      serverName: "",
      routeId: session.routeId,
      upstream: upstream.service,
      upstreamAddr: selection.endpoint.address,
      clientIp: client.ip,
      durationMs: this.options.now() - session.startedAtMs,
      bytesReceived: session.bytesReceived,
      bytesSent: session.bytesSent,
      attempts: 1,
      failure: session.failure,
    });
  }
}

const noFields = Fields.none();

const keyOf = ({ address, port }: UdpClient): string => `${address} ${port}`;
