import { connectEndpoint } from "../connect.ts";
import { connectTimeoutError, upstreamError } from "../errors.ts";
import type { UpstreamClientOptions } from "../options.ts";
import type { UpstreamClient, UpstreamEndpoint, UpstreamError } from "../upstream.ts";
import { UpstreamSession } from "./session.ts";
import { Http2UpstreamStream, type StreamQueue } from "./stream.ts";

/** Connections to one endpoint; more than one only when the server's limit of streams is reached. */
const maxSessionsPerEndpoint = 8;
/** Requests that wait for a stream to one endpoint. */
const maxWaiting = 1024;
/** Streams that a connection is expected to take before its server has said. */
const expectedStreams = 100;

const tooManyWaiting = upstreamError("connect", "too many requests wait for the endpoint", {
  requestSent: false,
});
const noUpgrade = upstreamError("invalid", "upgrade over HTTP/2", { requestSent: false });
const clientClosed = upstreamError("reset", "connection closed", { requestSent: true });

/**
 * Sends requests over cleartext HTTP/2 with prior knowledge (RFC 9113 3.3): few connections per endpoint, many
 * requests on each. See docs/features/http2.md, "Towards upstreams".
 */
export function createHttp2UpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const endpoints = new Map<string, EndpointSessions>();
  return {
    send(endpoint, request, handler) {
      let sessions = endpoints.get(endpoint.address);
      if (sessions === undefined) {
        sessions = new EndpointSessions(endpoint, options);
        endpoints.set(endpoint.address, sessions);
      }
      const stream = new Http2UpstreamStream(request, handler, sessions);
      if (request.upgrade === undefined) sessions.enqueue(stream);
      else queueMicrotask(() => stream.fail(noUpgrade));
      return stream;
    },
    retire(gone) {
      for (const { address } of gone) {
        endpoints.get(address)?.retire();
        endpoints.delete(address);
      }
    },
    close() {
      for (const sessions of endpoints.values()) sessions.close();
      endpoints.clear();
    },
  };
}

/** The connections to one endpoint, and the requests that wait for room on them. */
class EndpointSessions implements StreamQueue {
  private readonly endpoint: UpstreamEndpoint;
  private readonly options: UpstreamClientOptions;
  private readonly sessions = new Set<UpstreamSession>();
  private readonly waiting = new Map<Http2UpstreamStream, NodeJS.Timeout | undefined>();
  private readonly attempts = new Set<{ cancel(): void }>();
  /** Streams that a new connection can be expected to take: what the server allowed last. */
  private streamsPerSession = expectedStreams;
  private retired = false;
  private closed = false;

  constructor(endpoint: UpstreamEndpoint, options: UpstreamClientOptions) {
    this.endpoint = endpoint;
    this.options = options;
  }

  enqueue(stream: Http2UpstreamStream): void {
    const session = this.waiting.size === 0 ? this.sessionWithRoom() : undefined;
    if (session !== undefined) return this.open(stream, session);
    if (this.closed || this.waiting.size >= maxWaiting) {
      const error = this.closed ? clientClosed : tooManyWaiting;
      queueMicrotask(() => stream.fail(error));
      return;
    }
    const { connectTimeoutMs } = this.options;
    const timer = connectTimeoutMs > 0 ? setTimeout(() => this.expire(stream), connectTimeoutMs) : undefined;
    this.waiting.set(stream, timer);
    this.connectIfNeeded();
  }

  dequeue(stream: Http2UpstreamStream): void {
    clearTimeout(this.waiting.get(stream));
    this.waiting.delete(stream);
  }

  /** The endpoint is gone: what waits is still served, then the connections end. */
  retire(): void {
    this.retired = true;
    if (this.waiting.size === 0) for (const session of this.sessions) session.retire();
  }

  close(): void {
    this.closed = true;
    for (const attempt of this.attempts) attempt.cancel();
    this.attempts.clear();
    for (const session of this.sessions) session.destroy(clientClosed);
    this.failWaiting(clientClosed);
  }

  private sessionWithRoom(): UpstreamSession | undefined {
    for (const session of this.sessions) if (session.room > 0) return session;
    return undefined;
  }

  private open(stream: Http2UpstreamStream, session: UpstreamSession): void {
    if (session.idle) this.options.idlePool.remove(session);
    stream.open(session, session.reused);
  }

  private expire(stream: Http2UpstreamStream): void {
    this.waiting.delete(stream);
    stream.fail(connectTimeoutError);
  }

  private failWaiting(error: UpstreamError): void {
    for (const stream of this.waiting.keys()) {
      this.dequeue(stream);
      stream.fail(error);
    }
  }

  /** Gives waiting requests, oldest first, to sessions with room. */
  private pump(): void {
    for (const stream of this.waiting.keys()) {
      const session = this.sessionWithRoom();
      if (session === undefined) break;
      this.dequeue(stream);
      this.open(stream, session);
    }
    if (this.waiting.size > 0) this.connectIfNeeded();
    else if (this.retired) for (const session of this.sessions) session.retire();
  }

  private connectIfNeeded(): void {
    let opening = this.attempts.size;
    for (const session of this.sessions) if (session.opening) opening++;
    if (this.waiting.size <= opening * this.streamsPerSession) return;
    if (this.sessions.size + this.attempts.size >= maxSessionsPerEndpoint) return;
    const attempt = connectEndpoint(this.endpoint, this.options, (connected) => {
      this.attempts.delete(attempt);
      if (!connected.ok) return this.onConnectFailed(connected.error);
      const { socket } = connected.value;
      this.sessions.add(
        new UpstreamSession(socket, this.options.connectTimeoutMs, {
          onRoom: (session) => this.onRoom(session),
          onIdle: (session) => this.onIdle(session),
          onUnusable: (session) => this.onUnusable(session),
        }),
      );
    });
    this.attempts.add(attempt);
  }

  /** Requests wait on when another connection is up or coming; else this was their chance. */
  private onConnectFailed(error: UpstreamError): void {
    if (this.sessions.size === 0 && this.attempts.size === 0) this.failWaiting(error);
  }

  private onRoom(session: UpstreamSession): void {
    this.streamsPerSession = session.maxStreams;
    this.pump();
  }

  private onIdle(session: UpstreamSession): void {
    if (session.idle && this.sessions.has(session)) this.options.idlePool.add(session);
  }

  private onUnusable(session: UpstreamSession): void {
    this.sessions.delete(session);
    this.options.idlePool.remove(session);
    if (this.waiting.size === 0) return;
    // A session that never opened says why; one that did makes way for another.
    if (session.opened) this.connectIfNeeded();
    else this.onConnectFailed(session.fault ?? clientClosed);
  }
}
