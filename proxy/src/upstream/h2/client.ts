import { isIP } from "node:net";
import type { SocketLayer } from "../../sockets/socket-layer.ts";
import { AwakeTimer } from "../../timing/awake-timer.ts";
import { connectEndpoint } from "../connect/connect-endpoint.ts";
import { connectTimeoutOf, type UpstreamClientOptions } from "../connect/options.ts";
import { connectTimeoutError, upstreamError, type UpstreamError } from "../upstream-errors.ts";
import { isCurrentAddress } from "../resolver.ts";
import type { UpstreamClient, UpstreamEndpoint } from "../upstream.ts";
import { openNativeSession } from "./native/open-session.ts";
import { openNodeSession } from "./node/session.ts";
import type { SessionOpener, UpstreamSession } from "./session.ts";
import { Http2UpstreamStream, type StreamQueue } from "./stream.ts";

/** The most connections to one endpoint; more than one is opened only when the server's limit of streams is reached. */
const maxSessionsPerEndpoint = 8;
/** The most requests that wait for a stream to one endpoint. */
const maxWaiting = 1024;
/** The number of streams that a connection is expected to accept before the server's SETTINGS arrive. */
const expectedStreams = 100;

const tooManyWaiting = upstreamError("connect", "too many requests wait for the endpoint", {
  requestSent: false,
});
const noUpgrade = upstreamError("invalid", "upgrade over HTTP/2", { requestSent: false });
const clientClosed = upstreamError("reset", "connection closed", { requestSent: true });

/** The implementation of HTTP/2 (`--http2-codec`). */
export type Http2Codec = "node" | "native";

const openers: Readonly<Record<Http2Codec, (sockets: SocketLayer, isTls: boolean) => SessionOpener>> = {
  node: openNodeSession,
  native: openNativeSession,
};

/**
 * Sends requests over HTTP/2, with TLS or with prior knowledge without TLS (RFC 9113 3.2, 3.3): few connections per
 * endpoint, many requests on each. See docs/features/http2.md, "Towards backends".
 */
export function createHttp2UpstreamClient(
  options: UpstreamClientOptions,
  codec: Http2Codec = "native",
): UpstreamClient {
  const endpoints = new Map<UpstreamEndpoint, EndpointSessions>();
  /** The removed endpoints. A request can still be sent to one that it picked before. */
  const retired = new WeakSet<UpstreamEndpoint>();
  const sessionsOf = (endpoint: UpstreamEndpoint): EndpointSessions => {
    const known = endpoints.get(endpoint);
    if (known !== undefined) return known;
    const sessions = new EndpointSessions(endpoint, options, {
      opener: openers[codec],
      retired: retired.has(endpoint),
      onEmpty: () => endpoints.delete(endpoint),
    });
    endpoints.set(endpoint, sessions);
    return sessions;
  };
  return {
    send(endpoint, request, handler) {
      const sessions = sessionsOf(endpoint);
      const stream = new Http2UpstreamStream(request, handler, sessions);
      if (request.upgrade === undefined) sessions.enqueue(stream);
      else queueMicrotask(() => stream.fail(noUpgrade));
      return stream;
    },
    retire(removed) {
      for (const endpoint of removed) {
        retired.add(endpoint);
        endpoints.get(endpoint)?.retire();
      }
    },
    close() {
      for (const sessions of endpoints.values()) sessions.close();
      endpoints.clear();
    },
  };
}

/** The connection on which a request was not processed, and those that had carried requests by then. */
type Refusal = { readonly refusedBy: UpstreamSession; readonly used: ReadonlySet<UpstreamSession> };

/** The connections to one endpoint, and the requests that wait for room on them. */
class EndpointSessions implements StreamQueue {
  private readonly endpoint: UpstreamEndpoint;
  private readonly options: UpstreamClientOptions;
  private readonly sessions = new Set<UpstreamSession>();
  /** The peer addresses of sessions, if the endpoint is a DNS name. */
  private readonly addresses: WeakMap<UpstreamSession, string> | undefined;
  private readonly waiting = new Map<Http2UpstreamStream, AwakeTimer | undefined>();
  private readonly attempts = new Set<{ cancel(): void }>();
  /** The connections over which a refused request must not be sent again, by request. */
  private readonly refusals = new WeakMap<Http2UpstreamStream, Refusal>();
  /** The number of streams that a new connection is expected to accept: the last limit that the server set. */
  private streamsPerSession = expectedStreams;
  private retired: boolean;
  private closed = false;
  private readonly opener: (sockets: SocketLayer, isTls: boolean) => SessionOpener;
  private readonly onEmpty: () => void;

  /** `opener` creates sessions on connections. `onEmpty` is called when a retired endpoint has no connection left. */
  constructor(
    endpoint: UpstreamEndpoint,
    options: UpstreamClientOptions,
    how: {
      readonly opener: (sockets: SocketLayer, isTls: boolean) => SessionOpener;
      readonly retired: boolean;
      readonly onEmpty: () => void;
    },
  ) {
    this.endpoint = endpoint;
    this.options = options;
    this.addresses = isIP(endpoint.host) === 0 ? new WeakMap() : undefined;
    this.opener = how.opener;
    this.retired = how.retired;
    this.onEmpty = how.onEmpty;
  }

  private get connectTimeoutMs(): number {
    return connectTimeoutOf(this.endpoint, this.options);
  }

  /** Limit of a new connection: the longest connect timeout of the requests that wait for it; 0 = none. */
  private get connectLimitMs(): number | undefined {
    let longest: number | undefined;
    for (const { connectTimeoutMs } of this.waiting.keys()) {
      const limitMs = connectTimeoutMs ?? this.connectTimeoutMs;
      if (limitMs === 0) return 0;
      if (longest === undefined || limitMs > longest) longest = limitMs;
    }
    return longest;
  }

  /**
   * Sends a stream or lets it wait. One that was `refusedBy` a connection waits for a connection without requests so
   * far.
   */
  enqueue(stream: Http2UpstreamStream, refusedBy?: UpstreamSession): void {
    if (refusedBy !== undefined) {
      const used = new Set([...this.sessions].filter((session) => session.reused));
      this.refusals.set(stream, { refusedBy, used });
    }
    const session = this.waiting.size === 0 ? this.sessionWithRoom(stream) : undefined;
    if (session !== undefined) return this.open(stream, session);
    if (this.closed || this.waiting.size >= maxWaiting) {
      const error = this.closed ? clientClosed : tooManyWaiting;
      queueMicrotask(() => stream.fail(error));
      return;
    }
    const connectTimeoutMs = stream.connectTimeoutMs ?? this.connectTimeoutMs;
    const timer =
      connectTimeoutMs > 0 ? new AwakeTimer(() => this.expire(stream), connectTimeoutMs) : undefined;
    this.waiting.set(stream, timer);
    this.connectIfNeeded();
  }

  dequeue(stream: Http2UpstreamStream): void {
    this.waiting.get(stream)?.clear();
    this.waiting.delete(stream);
    this.endIfEmpty();
  }

  /**
   * Retires the endpoint: each connection ends after its last request. It does not end earlier, because a server that
   * receives GOAWAY while a request is on its way can report that request as unprocessed.
   */
  retire(): void {
    this.retired = true;
    if (this.waiting.size === 0) for (const session of this.sessions) if (session.idle) session.retire();
    this.endIfEmpty();
  }

  private endIfEmpty(): void {
    if (!this.retired || this.waiting.size + this.sessions.size + this.attempts.size > 0) return;
    this.onEmpty();
  }

  close(): void {
    this.closed = true;
    for (const attempt of this.attempts) attempt.cancel();
    this.attempts.clear();
    for (const session of this.sessions) session.destroy(clientClosed);
    this.failWaiting(clientClosed);
  }

  private sessionWithRoom(stream: Http2UpstreamStream): UpstreamSession | undefined {
    const refusal = this.refusals.get(stream);
    for (const session of this.sessions) {
      if (refusal !== undefined && !this.mayRepeat(refusal, session)) continue;
      if (session.room > 0 && !this.isCurrent(session) && !this.isFull) {
        // A busy session ends after its last request, see `retire`.
        if (session.idle) session.retire();
        continue;
      }
      const isOutdated = session.idle && this.options.idlePool.hasExpired(session);
      if (session.room > 0 && !isOutdated) return session;
    }
    return undefined;
  }

  /** Reports whether the name of the endpoint still has the address of the session, as far as that is known. */
  private isCurrent(session: UpstreamSession): boolean {
    const address = this.addresses?.get(session);
    return address === undefined || isCurrentAddress(this.options.resolver, this.endpoint.host, address);
  }

  /** Reports whether a refused request may use a session: an unused one, or any other one if none can be added. */
  private mayRepeat({ refusedBy, used }: Refusal, session: UpstreamSession): boolean {
    return this.isFull ? session !== refusedBy : !used.has(session);
  }

  private get isFull(): boolean {
    return this.sessions.size + this.attempts.size >= maxSessionsPerEndpoint;
  }

  private open(stream: Http2UpstreamStream, session: UpstreamSession): void {
    if (session.idle) this.options.idlePool.remove(session);
    stream.open(session, session.reused);
  }

  private expire(stream: Http2UpstreamStream): void {
    this.waiting.delete(stream);
    this.endIfEmpty();
    stream.fail(connectTimeoutError);
  }

  private failWaiting(error: UpstreamError): void {
    for (const stream of this.waiting.keys()) {
      this.dequeue(stream);
      stream.fail(error);
    }
  }

  /** Assigns waiting requests, oldest first, to sessions with room. */
  private pump(): void {
    for (const stream of this.waiting.keys()) {
      const session = this.sessionWithRoom(stream);
      if (session === undefined) {
        // If a request that may use any connection finds none, the requests behind it find none either.
        if (!this.refusals.has(stream)) break;
        continue;
      }
      this.dequeue(stream);
      this.open(stream, session);
    }
    if (this.waiting.size > 0) this.connectIfNeeded();
    else if (this.retired) for (const session of this.sessions) if (session.idle) session.retire();
  }

  private connectIfNeeded(): void {
    let opening = this.attempts.size;
    for (const session of this.sessions) if (session.opening) opening++;
    if (this.waiting.size <= opening * this.streamsPerSession) return;
    if (this.isFull) return;
    const opener = this.opener(this.options.sockets, this.endpoint.tls !== undefined);
    const { onread } = opener;
    const options = {
      ...this.options,
      alpn: "h2",
      limitMs: this.connectLimitMs,
      ...(onread && { onread }),
    } as const;
    const attempt = connectEndpoint(this.endpoint, options, (connected) => {
      this.attempts.delete(attempt);
      if (!connected.ok) return this.onConnectFailed(connected.error);
      const { socket, address } = connected.value;
      const session = opener.open(socket, this.connectTimeoutMs, {
        onRoom: (one) => this.onRoom(one),
        onIdle: (one) => this.onIdle(one),
        onUnusable: (one) => this.onUnusable(one),
      });
      this.sessions.add(session);
      this.addresses?.set(session, address);
    });
    this.attempts.add(attempt);
  }

  /** Requests keep waiting while another connection is up or being opened; otherwise they fail. */
  private onConnectFailed(error: UpstreamError): void {
    if (this.sessions.size === 0 && this.attempts.size === 0) this.failWaiting(error);
    this.endIfEmpty();
  }

  private onRoom(session: UpstreamSession): void {
    this.streamsPerSession = session.maxStreams;
    if (this.waiting.size > 0 || this.retired) this.pump();
  }

  private onIdle(session: UpstreamSession): void {
    if (!session.idle || !this.sessions.has(session)) return;
    if (this.retired || !this.isCurrent(session)) session.retire();
    else this.options.idlePool.add(session, this.endpoint.limits?.idleTimeoutMs);
  }

  private onUnusable(session: UpstreamSession): void {
    this.sessions.delete(session);
    this.options.idlePool.remove(session);
    if (this.waiting.size === 0) return this.endIfEmpty();
    // A session that never opened provides the error; one that did is replaced.
    if (session.opened) this.connectIfNeeded();
    else this.onConnectFailed(session.fault ?? clientClosed);
  }
}
