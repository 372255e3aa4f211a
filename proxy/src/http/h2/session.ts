import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Duplex } from "node:stream";
import { awake } from "../../timing/awake-clock.ts";
import type { ClientConnection } from "../connection.ts";
import type { FrontLimits, RequestHandler } from "../front.ts";
import { renderReply } from "../local-reply.ts";
import { Http2ClientStream, type StreamHost } from "./client-stream.ts";
import { containErrors } from "./contain-errors.ts";
import type { Http2FrontEvent, Http2FrontEventReason } from "./events.ts";
import { type Flood, FloodGuard } from "./flood-guard.ts";
import { type HeadRefusal, type ReceivedHead, readRequestHead } from "./request-head.ts";
import { Http2RequestBody } from "./request-body.ts";
import { connectionWindowBytes, serverOptions } from "./settings.ts";
import { UnreadRequests } from "./unread-requests.ts";

/** What all sessions of a front share. */
export type SessionContext = {
  readonly limits: FrontLimits;
  readonly handler: RequestHandler;
  /** Set once the front drains. */
  readonly draining: boolean;
  deferHead(stream: Http2ClientStream): void;
  onEvent(event: Http2FrontEvent): void;
  onClosed(session: Http2ServerConnection): void;
};

/** How long a client may take to read the last bytes and close its end after the session has ended. */
const lingerMs = 30_000;
/** Frames and padding of one request besides its fields and data. */
const requestOverheadBytes = 256;
const refusalStatus = {
  malformed: 400,
  "uri-too-long": 414,
  "header-too-large": 431,
  "too-many-headers": 431,
} as const satisfies { readonly [Reason in HeadRefusal]: number };

/** One client connection that speaks HTTP/2: accepts streams, counts abuse, watches time limits, and drains. */
export class Http2ServerConnection implements StreamHost {
  readonly guard: FloodGuard;
  private readonly socket: Duplex;
  private readonly connection: ClientConnection;
  private readonly context: SessionContext;
  private readonly session: ServerHttp2Session;
  private readonly streams = new Set<Http2ClientStream>();
  private readonly unread = new UnreadRequests();
  private requests = 0;
  private faultyStreams = 0;
  private idleSinceMs: number;
  private lingerSinceMs = 0;
  private stuckSinceMs: number;
  private writtenBytes = 0;
  private flooded = false;
  private leaving = false;
  private clientHasEnded = false;

  constructor(socket: Duplex, connection: ClientConnection, context: SessionContext) {
    const nowMs = awake.nowMs;
    this.socket = socket;
    this.connection = connection;
    this.context = context;
    this.idleSinceMs = nowMs;
    this.stuckSinceMs = nowMs;
    this.guard = new FloodGuard(nowMs);
    // The preface, the first SETTINGS and WINDOW_UPDATE of any client.
    this.guard.explain(128);
    const session = performServerHandshake(socket, serverOptions(context.limits));
    this.session = session;
    containErrors(session, {
      faultyStreams: () => this.faultyStreams,
      onFatal: (error, flood) => this.onFatal(error, flood),
    });
    session.on("connect", () => {
      if (!session.destroyed) session.setLocalWindowSize(connectionWindowBytes);
    });
    session.on("stream", (stream, _headers, flags, raw) => this.onStream(stream, flags, raw));
    session.on("ping", () => this.punish(this.guard.countControl(awake.nowMs, 17)));
    session.on("remoteSettings", () => this.punish(this.guard.countControl(awake.nowMs, 69)));
    session.on("error", ignore);
    session.on("close", () => this.context.onClosed(this));
    // Node's session does not end with it on sockets that may be half open.
    socket.on("end", () => this.clientEnded());
    // Before Node takes the session apart.
    const onEnd = (): void => this.endRequests();
    socket.prependListener("error", onEnd).prependListener("close", onEnd);
  }

  /** Requests whose response is not complete. */
  get openRequests(): number {
    let open = 0;
    for (const stream of this.streams) if (stream.open) open++;
    return open;
  }

  deferHead(stream: Http2ClientStream): void {
    this.context.deferHead(stream);
  }

  onStreamClosed(
    stream: Http2ClientStream,
    end: { readonly early: boolean; readonly malformed: boolean },
  ): void {
    this.streams.delete(stream);
    if (this.streams.size === 0) this.idleSinceMs = awake.nowMs;
    if (end.malformed) this.faultyStreams++;
    if (end.early) this.punish(this.guard.countReset(awake.nowMs));
  }

  /**
   * Graceful end (RFC 9113 6.8): GOAWAY with the last stream that was taken; the connection ends with its last stream.
   * Streams that cross the GOAWAY are not processed, which tells the client that it may send them again.
   */
  drain(): void {
    this.endRequests();
    if (!this.session.destroyed) this.session.close();
  }

  /** Drains after this turn: what has arrived together with the request that is the reason is still taken. */
  private drainSoon(): void {
    if (this.leaving) return;
    this.leaving = true;
    setImmediate(() => this.drain());
  }

  /** Ends everything now; answers how many requests were cut. */
  destroy(): number {
    const cut = this.openRequests;
    for (const stream of this.streams) stream.cut("shutdown");
    this.session.destroy();
    this.socket.destroy();
    return cut;
  }

  sweep(nowMs: number): void {
    const { session, context, streams } = this;
    const writtenBytes = byteCount(this.socket, "bytesWritten");
    const wrote = writtenBytes !== this.writtenBytes;
    this.writtenBytes = writtenBytes;
    if (session.destroyed || (session.closed && streams.size === 0)) {
      this.endLinger(nowMs, wrote);
      return;
    }
    this.punish(this.guard.checkOverhead(nowMs, byteCount(this.socket, "bytesRead"), this.unreadBytes()));
    if (session.destroyed) return;
    if (streams.size === 0) {
      this.stuckSinceMs = nowMs;
      this.endIfIdle(nowMs);
      return;
    }
    if (this.endIfStuck(nowMs, wrote)) return;
    const progressed = wrote && streams.size === 1;
    for (const stream of streams) {
      const exceeded = stream.sweep(nowMs, context.limits, progressed);
      if (exceeded !== undefined) this.report(exceeded);
    }
  }

  /** Nobody can open a window or acknowledge anything any more, so what is under way cannot be completed. */
  private clientEnded(): void {
    this.clientHasEnded = true;
    this.endRequests();
    if (this.streams.size === 0) this.drain();
    else this.session.destroy();
  }

  private onStream(stream: ServerHttp2Stream, flags: number, raw: string[]): void {
    const { context } = this;
    this.reportUnread(this.unread.seen(stream.id ?? 0));
    const received = readRequestHead(raw, context.limits);
    this.guard.explain(received.listBytes + requestOverheadBytes);
    const body =
      (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0
        ? new Http2RequestBody(stream, received.contentLength, this.guard)
        : null;
    const client = new Http2ClientStream(stream, this, { body, grpc: received.grpc });
    this.streams.add(client);
    this.requests++;
    this.endAfterLastRequest();
    if (received.refusal === undefined) this.handle(received, client);
    else this.refuse(client, received, received.refusal);
  }

  /** The connection takes no more requests than it may, and only those under way once its listener drains. */
  private endAfterLastRequest(): void {
    const { limits, draining } = this.context;
    const last = limits.maxRequestsPerConnection > 0 && this.requests >= limits.maxRequestsPerConnection;
    if (last && !this.leaving) this.report("requests-per-connection");
    if (last || draining || this.connection.listener.draining) this.drainSoon();
  }

  private handle(received: ReceivedHead, client: Http2ClientStream): void {
    try {
      this.context.handler(this.connection, received.head, client);
    } catch (error) {
      client.abort();
      this.report("handler-failed", { error });
    }
  }

  /** Answers a request that the pipeline never sees. */
  private refuse(client: Http2ClientStream, received: ReceivedHead, reason: HeadRefusal): void {
    const status = refusalStatus[reason];
    const reply = renderReply(
      { status, error: reason },
      { head: received.head.method === "HEAD", grpc: received.grpc },
    );
    client.sendHead(reply.head);
    client.write(reply.body);
    client.end(undefined);
    this.report(reason, { status, head: received.head });
  }

  /** Without streams: waits for the first request as long as for a header, for the next ones as an idle connection. */
  private endIfIdle(nowMs: number): void {
    const { headerTimeoutMs, idleTimeoutMs } = this.context.limits;
    const fresh = this.requests === 0;
    const limitMs = fresh ? headerTimeoutMs : idleTimeoutMs;
    if (limitMs === 0 || nowMs - this.idleSinceMs < limitMs) return;
    this.report(fresh ? "header-timeout" : "idle-timeout");
    if (fresh) this.session.destroy();
    else this.drain();
  }

  /**
   * After some faults of a client, such as a PING of the wrong size, Node reads no more, and streams that have ended then
   * never close: the connection goes when all of them have ended, and nothing has been written, for long enough that a client
   * who merely reads slowly would have been cut.
   */
  private endIfStuck(nowMs: number, wrote: boolean): boolean {
    const { writeTimeoutMs } = this.context.limits;
    if (wrote || this.openRequests > 0) this.stuckSinceMs = nowMs;
    if (writeTimeoutMs === 0 || nowMs - this.stuckSinceMs < 2 * writeTimeoutMs) return false;
    this.report("write-timeout");
    this.destroy();
    return true;
  }

  private endLinger(nowMs: number, wrote: boolean): void {
    if (this.lingerSinceMs === 0 || wrote) this.lingerSinceMs = nowMs;
    // One that ended in the middle of a header block has left Node waiting for the rest of it.
    else if (this.clientHasEnded || nowMs - this.lingerSinceMs >= lingerMs) this.socket.destroy();
  }

  private punish(flood: Flood | undefined): void {
    if (flood === undefined || this.flooded || this.session.destroyed) return;
    this.flooded = true;
    this.report(flood);
    this.session.destroy(new Error(flood), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  private onFatal(error: Error, flood: boolean): void {
    if (flood) this.report("frame-flood");
    else if ((error as NodeJS.ErrnoException).code === "ERR_HTTP2_ERROR") {
      this.report("malformed", { error });
    }
  }

  /** No request comes any more that has not come by now. */
  private endRequests(): void {
    if (!this.session.destroyed) this.reportUnread(this.unread.end(this.session.state.lastProcStreamID ?? 0));
  }

  private reportUnread(requests: number): void {
    for (let i = 0; i < requests; i++) this.report("unread-request");
  }

  private unreadBytes(): number {
    let bytes = 0;
    for (const { body } of this.streams) bytes += body?.unreadBytes ?? 0;
    return bytes;
  }

  private report(
    reason: Http2FrontEventReason,
    details: Pick<Partial<Http2FrontEvent>, "status" | "head" | "error"> = {},
  ): void {
    this.context.onEvent({ connection: this.connection, reason, status: 0, ...details });
  }
}

/** A counter of a socket; 0 for streams that are not sockets and have none. */
function byteCount(socket: Duplex, counter: "bytesRead" | "bytesWritten"): number {
  const value = (socket as Partial<Record<typeof counter, number>>)[counter];
  return value ?? 0;
}

const ignore = (): void => undefined;
