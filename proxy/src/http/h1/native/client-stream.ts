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
  /** Response bytes that are held; undefined if unknown. */
  readonly pendingBytes: number | undefined;
  responseEnded(stream: Http1ClientStream): void;
  /** Reports whether the connection may stay open after the response. */
  mayStayOpen(stream: Http1ClientStream): boolean;
  /** Ends the connection visibly within a message, with a `reset` if a plain end would look complete. */
  cut(options: { readonly reset: boolean }): void;
  /** Writes the head of a 101 and returns the connection, with the bytes that were read after the request. */
  handOver(text: string): TunnelEnd;
  report(event: Omit<FrontEvent, "connection">): void;
};

/** Bytes up to this size are joined with the preceding text into one write; larger buffers are not copied. */
const maxJoinedBytes = 8192;

/**
 * One request on an HTTP/1 connection and the response to it. The head waits for the first data or the end of the turn,
 * so that a small message is sent in one write.
 */
export class Http1ClientStream implements ClientStream {
  readonly head: RequestHead;
  readonly body: IncomingBody | null;
  readonly canUpgrade: boolean;
  headSent = false;
  onHeadSent: (() => void) | null = null;
  bytesSent = 0;
  /** False if the connection must close after this response. */
  keepAlive: boolean;
  onDrain: (() => void) | null = null;
  onClose: ((reason: ClientCloseReason) => void) | null = null;

  private readonly connection: StreamConnection;
  private readonly http11: boolean;
  /** True if the client may wait for a 100 that was not sent yet. */
  private awaitsContinue: boolean;
  /** True once the response has ended or the client has disconnected; later calls have no effect. */
  private done = false;
  /** True once a final head was handed over. */
  private headTaken = false;
  /** A head that has not been written yet, with the data that followed it in the same turn. */
  private pendingHead: ResponseHead | undefined = undefined;
  private pendingText = "";
  private length: number | undefined = undefined;
  private bodyless = false;
  private chunked = false;
  /** True while the sender has to wait until the written bytes have been sent. */
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
    // Bytes after such requests may not be HTTP.
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

  /** True once all of the request has been read from the connection. */
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

  /** True if the end of the connection delimits the response, so that a cut one has to be reset (RFC 9112 8). */
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

  /** Writes the head and data that waited for the end of the turn. */
  flush(): void {
    if (this.pendingHead === undefined || this.done) return;
    const text = this.takePending();
    if (text === undefined) return;
    this.connection.transport.writeText(text);
    this.settle(this.bytesSent);
  }

  /** Called when either side has closed the connection. */
  clientLeft(reason: ClientCloseReason): void {
    this.done = true;
    const { onClose } = this;
    this.onClose = null;
    this.onDrain = null;
    onClose?.(reason);
    this.body?.abort("client-closed");
  }

  /** Probes whether the client of a half-closed connection still reads; any 1xx may precede a response. */
  probe(): void {
    if (!this.done && !this.headSent && this.http11) this.sendInformational(100, []);
  }

  /** Called when the operating system has accepted everything that was written. */
  taken(): void {
    if (!this.isPaused || this.done) return;
    this.isPaused = false;
    this.connection.writes.drained();
  }

  /** Returns the text of the pending head and of the data after it; undefined if a field is malformed. */
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

  /** Writes a chunk of the body after a text that has to be sent first. */
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

  /** Called after a write; returns whether more may be written. */
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

  /** Aborts a response that cannot be completed as HTTP, so that the client sees the failure. */
  private breakOff(problem: string): void {
    this.connection.report({ reason: "broken-response", status: 0, error: new Error(problem) });
    const { onClose } = this;
    this.abort();
    onClose?.("broken-response");
  }
}
