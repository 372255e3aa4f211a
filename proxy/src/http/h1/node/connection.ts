import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ClientConnection } from "../../../exchange/client-connection.ts";
import type { ClientCloseReason, HeaderList } from "../../../message/message.ts";
import { resetSocket } from "../../../sockets/reset.ts";
import { awake } from "../../../timing/awake-clock.ts";
import type { FrontContext } from "../context.ts";
import type { FrontEvent } from "../events.ts";
import { readFraming } from "./framing.ts";
import { HalfCloseProbe } from "../half-close-probe.ts";
import {
  type ConnectionPhase,
  discardTimeoutMs,
  lingerArrivingMs,
  lingerMs,
  maxDiscardedBytes,
} from "../phase.ts";
import { sweepRequest } from "../sweep-request.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { PipelinedRequests } from "./pipelined-requests.ts";
import {
  isParseError,
  type ParseError,
  refusalEvent,
  type RefusalReason,
  refusalMessage,
  refusalOf,
} from "../refusal.ts";
import { Http1Stream } from "./stream.ts";
import { ResponseWrites, writtenTo } from "../../response-writes.ts";

/**
 * An HTTP/1 connection from its first request to its end. Node's parser reads the socket itself. It does not report
 * that a head has begun or that bytes keep arriving; a sweep derives that from the byte counter of the socket.
 */
export class Http1Connection {
  readonly context: FrontContext;
  private readonly socket: Socket;
  private readonly client: ClientConnection;
  private readonly spentMs: number;
  private phase: ConnectionPhase = "idle";
  private current: Http1Stream | null = null;
  /** True if the last response is delimited by the end of the connection. */
  private endsByClosing = false;
  private readonly waiting: PipelinedRequests<Http1Stream>;
  /** The last response, while Node still writes it. */
  private unflushed: ServerResponse | null = null;
  /** The reason why the bytes after the waiting requests did not parse. */
  private refusal: RefusalReason | undefined = undefined;
  private requests = 0;
  private deadlineMs: number;
  /** `socket.bytesRead` when the connection became idle; if it has grown since, a head has begun. */
  private idleBytes = 0;
  private headBegun = false;
  /** When the sweep noticed that a head has begun. */
  private begunAtMs = 0;
  private bodyBroken = false;
  readonly writes: ResponseWrites;
  /** How long to linger once the end of the proxy's side has been written; 0 once that time runs. */
  private lingerForMs = 0;
  private clientHasEnded = false;
  probe: HalfCloseProbe | undefined = undefined;

  /** `spentMs` is the time since the first bytes of the first head arrived. */
  constructor(socket: Socket, client: ClientConnection, context: FrontContext, spentMs = 0) {
    this.socket = socket;
    this.client = client;
    this.spentMs = spentMs;
    this.context = context;
    this.waiting = new PipelinedRequests(context);
    const { responseMemory, limits } = context;
    this.deadlineMs = context.clock.deadline(limits.headerTimeoutMs);
    this.writes = new ResponseWrites(writtenTo(socket), responseMemory, limits.writeTimeoutMs, {
      resume: () => this.current?.onDrain?.(),
      leave: (reason) => this.leaveSlowClient(reason),
    });
    // For a head without data Node passes no encoding: field values are octets (RFC 9110 5.5), not UTF-8.
    socket.setDefaultEncoding("latin1");
    // Node's server would close the connection by this method, and unread bytes would turn the close into a reset.
    socket.destroySoon = () => {};
    socket.on("end", () => this.clientEnded());
    socket.on("close", () => this.closed());
    socket.on("error", () => {});
  }

  /** The number of requests that would be cut if the connection ended now. */
  get openRequests(): number {
    return this.phase === "busy" || this.phase === "handed-over" ? 1 + this.waiting.length : 0;
  }

  /** Called with a parsed head. `upgradeHead` is set for requests that detached the socket from Node's parser. */
  request(request: IncomingRequest, response: ServerResponse, upgradeHead?: Buffer): void {
    if (this.phase === "closing") return;
    const { headMs } = this;
    this.requests++;
    this.headBegun = false;
    const { limits } = this.context;
    const { httpVersion, url = "", rawHeaders } = request;
    const framing = readFraming(httpVersion, url, rawHeaders, limits);
    const stream = new Http1Stream(this, request, response, framing, upgradeHead);
    stream.headMs = headMs;
    if (this.phase === "busy" || !this.flushed) this.enqueue(stream);
    else this.dispatch(stream);
  }

  /** Called when Node's parser or the socket failed. */
  failed(error: ParseError): void {
    if (this.phase === "closing") return;
    if (!isParseError(error)) return void this.socket.destroy();
    const ended = error.code === "HPE_INVALID_EOF_STATE";
    const pipelined = this.waiting.last;
    if (pipelined?.requestReceived === false) return this.failedWaiting(pipelined, ended);
    if (this.current?.requestReceived === false) {
      if (ended) return this.leave("client-closed");
      if (this.bodyBroken) return;
      this.bodyBroken = true;
      this.report({ reason: "malformed-body", status: 0 });
      return this.current.body?.abort("malformed");
    }
    if (error.code === "HPE_CLOSED_CONNECTION" || this.phase === "discarding") return;
    this.refusal ??= refusalOf(error);
    if (this.phase === "idle") this.afterFlush(() => this.next());
  }

  /** Called when the current response has been passed to Node completely. */
  responseEnded(stream: Http1Stream): void {
    this.current = null;
    this.endsByClosing = stream.endsByClosing;
    this.unflushed = stream.response;
    this.probe = undefined;
    this.writes.watch();
    if (!stream.keepAlive) {
      this.closeAfter(stream);
    } else if (!stream.requestReceived) {
      this.phase = "discarding";
      this.deadlineMs = this.context.clock.deadline(discardTimeoutMs);
      stream.body?.discard();
    } else if (this.waiting.length > 0 || this.refusal !== undefined) {
      this.phase = "idle";
      this.afterFlush(() => this.next());
    } else {
      this.becomeIdle();
    }
  }

  /** Reports whether the connection may stay open after a response. */
  mayStayOpen(stream: Http1Stream): boolean {
    const { limits, draining } = this.context;
    if (draining || this.client.listener.draining) return false;
    if (this.clientHasEnded && this.waiting.length === 0 && this.refusal === undefined) return false;
    if (
      limits.maxRequestsPerConnection > 0 &&
      this.requests - this.waiting.length >= limits.maxRequestsPerConnection
    ) {
      this.report({ reason: "requests-per-connection", status: 0 });
      return false;
    }
    return stream.requestReceived || (stream.body?.length ?? Number.POSITIVE_INFINITY) <= maxDiscardedBytes;
  }

  /** True for TLS, which writes with a delay. */
  get encrypted(): boolean {
    return this.client.tls !== undefined;
  }

  /** Ends the connection visibly within a message, with a `reset` if a plain end would look complete. */
  cut(options: { readonly reset: boolean }): void {
    if (options.reset) resetSocket(this.socket);
    else this.socket.destroy();
  }

  /** Answers 101 and returns the socket. This connection then only waits for its end. */
  handOver(stream: Http1Stream, headers: HeaderList): Socket {
    const { socket } = this;
    this.phase = "handed-over";
    this.current = null;
    stream.response.writeHead(101, headers);
    stream.response.flushHeaders();
    stream.response.detachSocket(socket);
    this.writes.forget();
    Reflect.deleteProperty(socket, "destroySoon");
    return socket;
  }

  /** Closes the connection if nothing is under way; otherwise its next response does. */
  drain(): void {
    if (this.phase === "idle" && !this.hasHeadBegun() && this.flushed) this.close(lingerMs);
  }

  /** Closes the connection immediately. */
  destroy(): void {
    this.leave("shutdown");
  }

  sweep(): void {
    const { nowMs } = this.context.clock;
    if (this.flushed) this.unflushed = null;
    this.writes.sweep(nowMs);
    switch (this.phase) {
      case "idle":
        return this.sweepIdle(nowMs);
      case "busy":
        if (this.current !== null) sweepRequest(this.current, this, nowMs);
        return;
      case "discarding":
        if (nowMs >= this.deadlineMs) this.close(lingerMs);
        return;
      case "closing":
        return this.sweepClosing(nowMs);
      case "handed-over":
        return;
    }
  }

  report(event: Omit<FrontEvent, "connection">): void {
    this.context.report({ ...event, connection: this.client });
  }

  private dispatch(stream: Http1Stream): void {
    this.phase = "busy";
    this.current = stream;
    if (this.clientHasEnded) this.probe = new HalfCloseProbe(awake.nowMs);
    if (stream.detached) this.adopt(stream.response);
    if (stream.refusal !== undefined) {
      this.report(refusalEvent(stream.refusal, stream.head, stream.headMs));
      return stream.refuse(stream.refusal);
    }
    try {
      this.context.handler(this.client, stream.head, stream);
    } catch (error) {
      this.report({ reason: "handler-failed", status: 0, error });
      this.leave("client-closed");
    }
  }

  /** Attaches a response to the socket as Node's server does, which has detached the socket of an upgrade request. */
  private adopt(response: ServerResponse): void {
    const { socket } = this;
    response.assignSocket(socket);
    socket.on("drain", () => response.emit("drain"));
  }

  private enqueue(stream: Http1Stream): void {
    const { length } = this.waiting;
    if (!this.waiting.add(stream)) {
      this.report({ reason: "pipelining", status: 0 });
      return this.leave("client-closed");
    }
    if (length === 0 && this.phase !== "busy") this.afterFlush(() => this.next());
  }

  /** Continues with the bytes that the client has already sent. */
  private next(): void {
    if (this.phase !== "idle" && this.phase !== "discarding") return;
    const stream = this.waiting.takeFirst();
    if (stream !== undefined) return this.dispatch(stream);
    if (this.refusal !== undefined) return this.refuse(this.refusal);
    this.becomeIdle();
  }

  /** Runs `then` once Node has written the last response; it cannot write another one before. */
  private afterFlush(then: () => void): void {
    if (this.flushed) then();
    else this.unflushed?.once("finish", then);
  }

  private get flushed(): boolean {
    return this.unflushed === null || this.unflushed.writableFinished;
  }

  private becomeIdle(): void {
    this.phase = "idle";
    // The client ended its side after the head of the last response had been written.
    if (this.clientHasEnded) return this.afterFlush(() => this.close(0));
    this.headBegun = false;
    this.idleBytes = this.socket.bytesRead;
    this.deadlineMs = this.context.clock.deadline(this.context.limits.idleTimeoutMs);
  }

  /**
   * Handles a malformed body of a waiting request: it is refused when its turn comes, or dropped if the client has
   * ended.
   */
  private failedWaiting(stream: Http1Stream, ended: boolean): void {
    if (!ended) {
      stream.refusal ??= "malformed";
      return;
    }
    this.waiting.forgetLast();
  }

  /** Answers bytes that are not a valid request. */
  private refuse(reason: RefusalReason): void {
    this.report(refusalEvent(reason, undefined, this.headMs));
    this.socket.write(refusalMessage(reason, new Date()), "latin1");
    this.close(lingerArrivingMs);
  }

  /** Closes the connection once the response has been written. */
  private closeAfter(stream: Http1Stream): void {
    const arriving = !stream.requestReceived;
    if (arriving) stream.body?.discard();
    this.phase = "closing";
    this.waiting.forgetAll();
    this.afterFlush(() => this.close(arriving ? lingerArrivingMs : lingerMs));
  }

  /** Ends the proxy's side. Later bytes are ignored until the client ends its side too, for at most `lingerForMs`. */
  private close(lingerForMs: number): void {
    this.phase = "closing";
    this.waiting.forgetAll();
    this.lingerForMs = lingerForMs;
    this.writes.watch();
    this.socket.end();
    // After Node's parser was detached nothing else reads the socket.
    if (this.socket.readableFlowing === null) this.socket.resume();
  }

  /** Called when the client has ended its side; it may still read. */
  private clientEnded(): void {
    this.clientHasEnded = true;
    if (this.phase === "busy" && this.current?.requestReceived === true) {
      this.probe = new HalfCloseProbe(awake.nowMs);
    } else if (this.phase === "idle" && this.waiting.length === 0 && !this.hasHeadBegun()) {
      this.becomeIdle();
    }
  }

  /** Called when the client reads too slowly. */
  private leaveSlowClient(reason: ClientCloseReason): void {
    if (reason === "timeout") this.report({ reason: "write-timeout", status: 0 });
    this.leave(reason);
  }

  private closed(): void {
    this.context.forget(this);
    this.leave("client-closed");
  }

  /** True if a plain end of the connection would make an incomplete response look complete. */
  private get cutsResponse(): boolean {
    return this.current === null
      ? this.endsByClosing && this.socket.writableLength > 0
      : this.current.endsByClosing;
  }

  /** Ends the connection without a further answer. */
  private leave(reason: ClientCloseReason): void {
    const { current, cutsResponse } = this;
    this.phase = "closing";
    this.current = null;
    this.waiting.forgetAll();
    this.cut({ reset: cutsResponse });
    this.writes.forget();
    current?.clientLeft(reason);
  }

  /** The time since the first byte of the head that is being read, in milliseconds, as far as sweeps have seen it. */
  private get headMs(): number {
    const spentMs = this.requests === 0 ? this.spentMs : 0;
    return this.headBegun ? spentMs + awake.nowMs - this.begunAtMs : spentMs;
  }

  private hasHeadBegun(): boolean {
    return this.headBegun || this.socket.bytesRead !== this.idleBytes;
  }

  private sweepIdle(nowMs: number): void {
    if (!this.flushed || this.waiting.length > 0) return;
    const { limits, clock, draining } = this.context;
    if (!this.headBegun && this.hasHeadBegun()) {
      this.headBegun = true;
      this.begunAtMs = clock.nowMs;
      this.deadlineMs = clock.deadline(limits.headerTimeoutMs, this.requests === 0 ? this.spentMs : 0);
    }
    if (draining && !this.headBegun) return this.close(lingerMs);
    if (nowMs < this.deadlineMs) return;
    if (this.headBegun) return this.refuse("header-timeout");
    this.report({ reason: "idle-timeout", status: 0 });
    this.close(lingerMs);
  }

  private sweepClosing(nowMs: number): void {
    if (!this.socket.writableFinished) return;
    if (this.lingerForMs > 0) {
      this.deadlineMs = this.context.clock.deadline(this.lingerForMs);
      this.lingerForMs = 0;
    } else if (nowMs >= this.deadlineMs) {
      this.socket.destroy();
    }
  }
}
