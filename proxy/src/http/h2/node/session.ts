import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import type { ClientConnection } from "../../../exchange/client-connection.ts";
import { containErrors } from "../../../http2/contain-errors.ts";
import { errorCode, frameFlag } from "../../../http2/frames/frame-types.ts";
import { nodeHttp2 } from "../../../http2/node-module.ts";
import { connectionWindowBytes, serverOptions } from "../../../http2/settings.ts";
import { ignore } from "../../../sockets/ignore.ts";
import { awake } from "../../../timing/awake-clock.ts";
import type { ResponseMemory } from "../../response-memory.ts";
import type { Flood } from "../../../http2/flood-limits.ts";
import { takenBytes } from "../../taken-bytes.ts";
import { Http2ClientStream, type StreamHost } from "./client-stream.ts";
import { type EventDetails, eventOf, type Http2FrontEventReason } from "../events.ts";
import { FloodGuard } from "./flood-guard.ts";
import type { FrontContext } from "../front-connections.ts";
import { Http2RequestBody } from "./request-body.ts";
import { readRequestHead } from "../request-head.ts";
import { takeRequest } from "../take-request.ts";
import { UnreadRequests } from "./unread-requests.ts";

/** How long a client may take to read the last bytes and close its end after the session has ended. */
const lingerMs = 30_000;
/** The frames of a PING, and of SETTINGS with ten entries. */
const pingBytes = 17;
const settingsBytes = 69;
/** Frames and padding of one request besides its fields and data. */
const requestOverheadBytes = 256;
/** How long the streams of a client that has reset too many may go on. */
const floodGraceMs = 5000;
/** About what a control frame that answers one of the client's takes on the wire, encrypted, and the head of a response. */
const answerBytes = 64;
const responseHeadBytes = 128;

/** One client connection that speaks HTTP/2: accepts streams, counts abuse, watches time limits, and drains. */
export class Http2ServerConnection implements StreamHost {
  readonly guard: FloodGuard;
  private readonly socket: Duplex;
  private readonly connection: ClientConnection;
  private readonly context: FrontContext<Http2ServerConnection>;
  /** Sends the heads of streams together, at the end of the turn. */
  private readonly deferToFront: (stream: Http2ClientStream) => void;
  private readonly session: ServerHttp2Session;
  private readonly streams = new Set<Http2ClientStream>();
  private readonly unread = new UnreadRequests();
  requests = 0;
  private faultyStreams = 0;
  private idleSinceMs: number;
  private lingerSinceMs = 0;
  private stuckSinceMs: number;
  private writtenBytes = 0;
  /** What the system had taken at the last sweep, and what of it since then is no content. */
  private takenBytes = 0;
  private overheadBytes = 0;
  /** Bytes that left completely for streams that have closed since the last sweep. */
  private closedBytes = 0;
  private flooded = false;
  /** Until when the streams of a flooding client may go on, once it gets no more. */
  private graceEndsMs: number | undefined = undefined;
  private leaving = false;
  private clientHasEnded = false;

  constructor(
    socket: Duplex,
    connection: ClientConnection,
    context: FrontContext<Http2ServerConnection>,
    deferHead: (stream: Http2ClientStream) => void,
  ) {
    const nowMs = awake.nowMs;
    this.socket = socket;
    this.connection = connection;
    this.context = context;
    this.deferToFront = deferHead;
    this.idleSinceMs = nowMs;
    this.stuckSinceMs = nowMs;
    this.guard = new FloodGuard(nowMs);
    // The preface, the first SETTINGS and WINDOW_UPDATE of any client.
    this.guard.explain(128);
    const session = nodeHttp2().performServerHandshake(socket, serverOptions(context.limits));
    this.session = session;
    containErrors(session, {
      faultyStreams: () => this.faultyStreams,
      onFatal: (error, flood) => this.onFatal(error, flood),
      onFault: () => this.countControl(pingBytes),
    });
    session.on("connect", () => {
      if (!session.destroyed) session.setLocalWindowSize(connectionWindowBytes);
    });
    session.on("stream", (stream, _headers, flags, raw) => this.onStream(stream, flags, raw));
    session.on("ping", () => this.countControl(pingBytes));
    session.on("remoteSettings", () => this.countControl(settingsBytes));
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

  get memory(): ResponseMemory {
    return this.context.responseMemory;
  }

  deferHead(stream: Http2ClientStream): void {
    this.overheadBytes += responseHeadBytes;
    this.deferToFront(stream);
  }

  onStreamClosed(
    stream: Http2ClientStream,
    end: { readonly early: boolean; readonly malformed: boolean },
  ): void {
    this.streams.delete(stream);
    this.closedBytes += stream.newlyCompletedBytes();
    if (this.streams.size === 0) this.idleSinceMs = awake.nowMs;
    if (end.malformed) this.faultyStreams++;
    if (end.early) this.punish(this.guard.countReset(awake.nowMs));
    if (this.graceEndsMs !== undefined && this.streams.size === 0) this.endFlood();
  }

  /**
   * Graceful end (RFC 9113 6.8): GOAWAY with the last stream that was taken; the connection ends with its last stream.
   * Streams that cross the GOAWAY are not processed, from which the client knows that it may send them again.
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
    if (this.graceEndsMs !== undefined && nowMs >= this.graceEndsMs) return this.endFlood();
    if (this.endIfStuck(nowMs, wrote)) return;
    this.creditPartlyTaken();
    for (const stream of streams) {
      const exceeded = stream.sweep(nowMs, context.limits);
      if (exceeded !== undefined) this.report(exceeded);
    }
  }

  /** The client can no longer open a window or acknowledge anything, so what is under way cannot be completed. */
  private clientEnded(): void {
    this.clientHasEnded = true;
    this.endRequests();
    if (this.streams.size === 0) this.drain();
    else this.session.destroy();
  }

  private onStream(stream: ServerHttp2Stream, flags: number, raw: string[]): void {
    const { context } = this;
    const unread = this.unread.seen(stream.id ?? 0);
    this.reportUnread(unread);
    // Node has refused them, perhaps for want of a place that their client had just given up.
    this.guard.explain(unread * requestOverheadBytes);
    this.guard.countOpened(awake.nowMs);
    // It came together with the last one that was taken.
    if (this.flooded) return stream.on("error", ignore).close(errorCode.refusedStream);
    const received = readRequestHead(raw, context.limits);
    this.guard.explain(received.listBytes + requestOverheadBytes);
    const body =
      (flags & frameFlag.endStream) === 0
        ? new Http2RequestBody(stream, received.contentLength, this.guard)
        : null;
    const client = new Http2ClientStream(stream, this, { body, grpc: received.grpc });
    this.streams.add(client);
    this.requests++;
    this.endAfterLastRequest();
    takeRequest(context, this.connection, received, client);
  }

  /** The connection takes no more requests than it may, and only those under way once its listener drains. */
  private endAfterLastRequest(): void {
    const { limits, draining } = this.context;
    const last = limits.maxRequestsPerConnection > 0 && this.requests >= limits.maxRequestsPerConnection;
    if (last && !this.leaving) this.report("requests-per-connection");
    if (last || draining || this.connection.listener.draining) this.drainSoon();
  }

  /** Ends a connection without streams: after the header timeout before the first request, after the idle timeout later. */
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

  private countControl(frameBytes: number): void {
    this.overheadBytes += answerBytes;
    this.punish(this.guard.countControl(awake.nowMs, frameBytes));
  }

  private punish(flood: Flood | undefined): void {
    if (flood === undefined || this.session.destroyed) return;
    if (!this.flooded) this.report(flood);
    else if (flood === "reset-flood") return;
    this.flooded = true;
    if (flood === "control-flood" || this.streams.size === 0) this.endFlood();
    else this.graceEndsMs = this.refuseStreams();
  }

  /** Takes no more streams, and lets those under way finish until the answered moment. */
  private refuseStreams(): number {
    this.leaving = true;
    this.endRequests();
    // What crosses this on its way is ignored, bodies too.
    this.guard.explain(connectionWindowBytes);
    this.session.goaway(errorCode.enhanceYourCalm);
    return awake.nowMs + floodGraceMs;
  }

  private endFlood(): void {
    this.session.destroy(new Error("flood"), errorCode.enhanceYourCalm);
  }

  /**
   * A piece of up to 64 KiB counts as taken when its last byte has left, which is long for a slow client with many streams.
   * What the system has taken meanwhile, while no piece was completed, is shared among the streams that wait.
   */
  creditPartlyTaken(): void {
    const taken = takenBytes(this.socket);
    const content = taken - this.takenBytes - this.overheadBytes;
    let completed = this.closedBytes;
    let waiting = 0;
    for (const stream of this.streams) {
      completed += stream.newlyCompletedBytes();
      if (stream.heldBytes > 0) waiting++;
    }
    this.takenBytes = taken;
    this.overheadBytes = 0;
    this.closedBytes = 0;
    if (completed > 0 || content <= 0) return;
    for (const stream of this.streams) if (stream.heldBytes > 0) stream.countPartly(content / waiting);
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

  private report(reason: Http2FrontEventReason, details?: EventDetails): void {
    this.context.onEvent(eventOf(this.connection, reason, details));
  }
}

/** A counter of a socket; 0 for streams that are not sockets and have none. */
function byteCount(socket: Duplex, counter: "bytesRead" | "bytesWritten"): number {
  const value = (socket as Partial<Record<typeof counter, number>>)[counter];
  return value ?? 0;
}
