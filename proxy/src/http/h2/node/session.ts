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

/** How long a client may take to read the last bytes and close its end after the session has ended, in milliseconds. */
const lingerMs = 30_000;
/** The size of a PING frame, and of a SETTINGS frame with ten entries. */
const pingBytes = 17;
const settingsBytes = 69;
/** The bytes of frames and padding of one request besides its fields and data. */
const requestOverheadBytes = 256;
/** How long the open streams of a client that has reset too many may continue, in milliseconds. */
const floodGraceMs = 5000;
/** The approximate size on the wire, encrypted, of an answer to a control frame, and of the head of a response. */
const answerBytes = 64;
const responseHeadBytes = 128;

/** One HTTP/2 client connection: accepts streams, counts abuse, enforces time limits, and drains. */
export class Http2ServerConnection implements StreamHost {
  readonly guard: FloodGuard;
  private readonly socket: Duplex;
  private readonly connection: ClientConnection;
  private readonly context: FrontContext<Http2ServerConnection>;
  /** Schedules the heads of streams to be sent together, at the end of the turn. */
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
  /** The bytes that the operating system had accepted at the last sweep, and those since then that are not content. */
  private takenBytes = 0;
  private overheadBytes = 0;
  /** Bytes of completely sent chunks of streams that have closed since the last sweep. */
  private closedBytes = 0;
  private flooded = false;
  /** The time until which the open streams of a flooding client may continue; undefined unless new ones are refused. */
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
    // The preface, and the first SETTINGS and WINDOW_UPDATE that every client sends.
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
    // On sockets that can be half open, Node's session does not end when the client ends its side.
    socket.on("end", () => this.clientEnded());
    // Must run before Node destroys the session.
    const onEnd = (): void => this.endRequests();
    socket.prependListener("error", onEnd).prependListener("close", onEnd);
  }

  /** The number of requests whose response is not complete. */
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
   * Ends the connection gracefully (RFC 9113 6.8): sends GOAWAY with the last accepted stream, and closes with the last
   * open one. Streams that cross the GOAWAY are not processed; the client knows from it that it may send them again.
   */
  drain(): void {
    this.endRequests();
    if (!this.session.destroyed) this.session.close();
  }

  /**
   * Drains after this turn, so that requests that arrived together with the one that causes the drain are still
   * accepted.
   */
  private drainSoon(): void {
    if (this.leaving) return;
    this.leaving = true;
    setImmediate(() => this.drain());
  }

  /** Closes the connection immediately; returns how many requests were cut. */
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

  /** Called when the client has ended its side: it can no longer open windows, so open requests cannot complete. */
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
    // Node refused these, possibly for lack of a stream that the client had just given up.
    this.guard.explain(unread * requestOverheadBytes);
    this.guard.countOpened(awake.nowMs);
    // The stream arrived together with the last one that was accepted.
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

  /** Drains the connection if it has reached its limit of requests, or if its listener drains. */
  private endAfterLastRequest(): void {
    const { limits, draining } = this.context;
    const last = limits.maxRequestsPerConnection > 0 && this.requests >= limits.maxRequestsPerConnection;
    if (last && !this.leaving) this.report("requests-per-connection");
    if (last || draining || this.connection.listener.draining) this.drainSoon();
  }

  /** Ends a connection without streams: before the first request after the header timeout, later after the idle one. */
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
   * Closes a connection that Node has stopped reading. That happens after some faults of a client, such as a PING of
   * the wrong size; streams that have ended then never close. The condition is that all streams have ended and nothing
   * has been written for so long that a client that merely reads slowly would have been cut.
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
    // If the client ended in the middle of a header block, Node waits for the rest of it and does not close the socket.
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

  /** Accepts no more streams; returns the time until which open ones may finish. */
  private refuseStreams(): number {
    this.leaving = true;
    this.endRequests();
    // Frames that cross the GOAWAY are ignored, including bodies.
    this.guard.explain(connectionWindowBytes);
    this.session.goaway(errorCode.enhanceYourCalm);
    return awake.nowMs + floodGraceMs;
  }

  private endFlood(): void {
    this.session.destroy(new Error("flood"), errorCode.enhanceYourCalm);
  }

  /**
   * Credits progress to streams while no chunk is completed. A chunk of up to 64 KiB counts as sent only with its last
   * byte, which takes long for a slow client with many streams. So the bytes that the operating system has accepted
   * meanwhile are divided among the waiting streams.
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

  /** Called when no more requests are accepted; reports those that Node reset unseen. */
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

/** Returns a counter of a socket; 0 for streams other than sockets, which have none. */
function byteCount(socket: Duplex, counter: "bytesRead" | "bytesWritten"): number {
  const value = (socket as Partial<Record<typeof counter, number>>)[counter];
  return value ?? 0;
}
