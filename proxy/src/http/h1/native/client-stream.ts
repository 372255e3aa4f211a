import type { Fields } from "../../../message/fields.ts";
import type {
  Chunk,
  ClientCloseReason,
  ClientStream,
  HeaderList,
  RequestHead,
  ResponseHead,
} from "../../../message/message.ts";
import type { FrontContext } from "../context.ts";
import type { FrontEvent } from "../events.ts";
import type { ResponseWrites } from "../../response-writes.ts";
import type { IncomingBody } from "./incoming-body.ts";
import type { RequestSemantics } from "./request-semantics.ts";
import { renderHead, renderInterimHead, renderLastChunk, renderUpgradeHead } from "./response-text.ts";
import type { Transport, TunnelEnd } from "../../../sockets/transport.ts";

/** The connection that a response is written to. */
export type StreamConnection = {
  readonly front: Pick<FrontContext, "flushLater">;
  readonly transport: Transport;
  readonly writes: ResponseWrites;
  /** Response bytes that are held; undefined: unknown. */
  readonly pendingBytes: number | undefined;
  responseEnded(stream: Http1ClientStream): void;
  /** Whether the response may leave the connection open. */
  mayStayOpen(stream: Http1ClientStream): boolean;
  /** Ends the connection visibly in the middle of a message; `reset` where a plain end would look complete. */
  cut(options: { readonly reset: boolean }): void;
  /** Writes the head of a 101 and gives the connection away, with what was read behind the request. */
  handOver(text: string): TunnelEnd;
  report(event: Omit<FrontEvent, "connection">): void;
};

/** Bytes up to this size are joined with the text before them into one write; more are not copied. */
const maxJoinedBytes = 8192;

/**
 * One request on an HTTP/1 connection and the response to it. The head waits for the first data or the end of the turn, so
 * that a small message leaves in one write.
 */
export class Http1ClientStream implements ClientStream {
  readonly head: RequestHead;
  readonly body: IncomingBody | null;
  readonly canUpgrade: boolean;
  headSent = false;
  onHeadSent: (() => void) | null = null;
  bytesSent = 0;
  /** False when the connection must close after this response. */
  keepAlive: boolean;
  onDrain: (() => void) | null = null;
  onClose: ((reason: ClientCloseReason) => void) | null = null;

  private readonly connection: StreamConnection;
  private readonly http11: boolean;
  /** The client may wait for a 100 that it has not got. */
  private awaitsContinue: boolean;
  /** No more calls have an effect: the response has ended, or the client has left. */
  private done = false;
  /** A final head was handed over. */
  private headTaken = false;
  /** A head that has not been written yet, with the data that came after it in the same turn. */
  private pendingHead: ResponseHead | undefined = undefined;
  private pendingText = "";
  private length: number | undefined = undefined;
  private bodyless = false;
  private chunked = false;
  /** The sender has to wait until what was written has left. */
  private isPaused = false;

  constructor(
    connection: StreamConnection,
    head: RequestHead,
    semantics: RequestSemantics,
    body: IncomingBody | null,
  ) {
    const { keepAlive, expectsContinue, asksForWebSocket } = semantics;
    this.connection = connection;
    this.head = head;
    this.http11 = head.version === "1.1";
    // What follows such requests may be no HTTP.
    this.keepAlive = keepAlive && !asksForWebSocket && head.method !== "CONNECT";
    this.awaitsContinue = expectsContinue;
    this.canUpgrade = asksForWebSocket;
    this.body = body;
  }

  get pendingBytes(): number | undefined {
    return this.connection.pendingBytes;
  }

  get copies(): false | "lent" {
    return this.connection.transport.takesViews && "lent";
  }

  get roomBytes(): number {
    return this.connection.writes.roomBytes;
  }

  /** True when all of the request has been read from the connection. */
  get requestReceived(): boolean {
    return this.body === null || this.body.received;
  }

  sendInformational(status: number, headers: HeaderList): void {
    if (this.done || this.headTaken || !this.http11 || status === 101 || status < 100 || status > 199) return;
    const text = renderInterimHead(status, headers);
    if (text === undefined) return this.breakOff("an interim response with a malformed field");
    if (status === 100) this.awaitsContinue = false;
    this.connection.transport.writeText(text);
    this.connection.writes.watch();
  }

  sendHead(head: ResponseHead): void {
    if (this.done || this.headTaken) return;
    this.headTaken = true;
    this.length = head.length;
    this.bodyless = head.bodyless || head.status === 204 || head.status === 304;
    this.pendingHead = head;
    if (head.isWhole !== true) this.connection.front.flushLater(this);
  }

  takeBack(): void {
    if (this.done || this.pendingHead === undefined) return;
    this.headTaken = false;
    this.pendingHead = undefined;
    this.pendingText = "";
    this.bytesSent = 0;
  }

  write(chunk: Chunk): boolean {
    if (this.done || this.bodyless) return !this.done;
    if (chunk.length === 0) return !this.isPaused;
    this.bytesSent += chunk.length;
    if (this.length !== undefined && this.bytesSent > this.length) {
      this.breakOff("the response is longer than its Content-Length");
      return false;
    }
    if (this.pendingHead !== undefined) {
      if (typeof chunk === "string" && this.pendingText === "") {
        this.pendingText = chunk;
        return true;
      }
      const text = this.takePending();
      return text !== undefined && this.put(text, chunk);
    }
    return this.put("", chunk);
  }

  end(trailers: HeaderList | undefined): void {
    if (this.done) return;
    if (!this.bodyless && this.length !== undefined && this.bytesSent < this.length) {
      return this.breakOff("the response is shorter than its Content-Length");
    }
    let text = this.pendingHead === undefined ? "" : this.takePending();
    if (text === undefined) return;
    if (this.chunked) {
      const last = renderLastChunk(trailers);
      if (last === undefined) {
        if (text !== "") this.connection.transport.writeText(text);
        return this.breakOff("a malformed trailer");
      }
      text += last;
    }
    this.done = true;
    if (text !== "") this.connection.transport.writeText(text);
    this.connection.responseEnded(this);
  }

  /** The end of the connection is that of the response, so one that is cut has to be reset (RFC 9112 8). */
  get endsByClosing(): boolean {
    return this.headSent && !this.http11 && this.length === undefined && !this.bodyless;
  }

  abort(): void {
    if (this.done) return;
    this.done = true;
    this.onClose = null;
    this.connection.cut({ reset: this.endsByClosing });
  }

  closeAfterResponse(): void {
    this.keepAlive = false;
  }

  upgrade(headers: Fields): TunnelEnd | undefined {
    if (this.done || this.headTaken || !this.canUpgrade) return undefined;
    const text = renderUpgradeHead(headers);
    if (text === undefined) return undefined;
    this.done = true;
    this.headTaken = true;
    this.headSent = true;
    return this.connection.handOver(text);
  }

  /** Writes what waited for the end of the turn. */
  flush(): void {
    if (this.pendingHead === undefined || this.done) return;
    const text = this.takePending();
    if (text === undefined) return;
    this.connection.transport.writeText(text);
    this.settle(this.bytesSent);
  }

  /** The client left, or is being left. */
  clientLeft(reason: ClientCloseReason): void {
    this.done = true;
    const { onClose } = this;
    this.onClose = null;
    this.onDrain = null;
    onClose?.(reason);
    this.body?.abort("client-closed");
  }

  /** Asks a half-closed connection whether its client is still there; any 1xx may precede a response. */
  probe(): void {
    if (!this.done && !this.headSent && this.http11) this.sendInformational(100, []);
  }

  /** The system has taken all that was written. */
  taken(): void {
    if (!this.isPaused || this.done) return;
    this.isPaused = false;
    this.connection.writes.drained();
  }

  /** The text of the pending head, and of the data after it; undefined when they cannot be written. */
  private takePending(): string | undefined {
    const head = this.pendingHead as ResponseHead;
    const { connection } = this;
    this.pendingHead = undefined;
    const isSure = !this.awaitsContinue || this.requestReceived;
    const keepAlive = this.keepAlive && connection.mayStayOpen(this) && isSure;
    const rendered = renderHead(head, { http11: this.http11, keepAlive });
    if (rendered === undefined) {
      this.breakOff("a malformed response field");
      return undefined;
    }
    this.keepAlive = rendered.keepAlive;
    this.chunked = rendered.chunked;
    this.headSent = true;
    this.onHeadSent?.();
    const data = this.pendingText;
    this.pendingText = "";
    return data === "" ? rendered.text : rendered.text + this.framed(data);
  }

  /** Writes a piece of the body behind a text that has to leave first. */
  private put(before: string, chunk: Chunk): boolean {
    const { transport } = this.connection;
    if (typeof chunk === "string") transport.writeText(before + this.framed(chunk));
    else if (before === "" && !this.chunked) transport.writeBytes("", chunk, "");
    else if (chunk.length <= maxJoinedBytes)
      transport.writeText(before + this.framed(chunk.toString("latin1")));
    else if (this.chunked) transport.writeBytes(`${before}${chunk.length.toString(16)}\r\n`, chunk, "\r\n");
    else transport.writeBytes(before, chunk, "");
    return this.settle(chunk.length);
  }

  private framed(data: string): string {
    return this.chunked ? `${data.length.toString(16)}\r\n${data}\r\n` : data;
  }

  /** After a write: whether more may be written. */
  private settle(bytes: number): boolean {
    const { transport, writes } = this.connection;
    if (transport.waitingBytes === 0) {
      writes.wentAtOnce(bytes);
      return true;
    }
    this.isPaused = !writes.mayWait();
    if (this.isPaused) transport.whenTaken();
    return !this.isPaused;
  }

  /** The response cannot be completed as HTTP: the client must see that. */
  private breakOff(problem: string): void {
    this.connection.report({ reason: "broken-response", status: 0, error: new Error(problem) });
    const { onClose } = this;
    this.abort();
    onClose?.("broken-response");
  }
}
