import type { BodyAbortReason, BodySink, Chunk, HeaderList, RequestBody } from "../../message/message.ts";
import type { Transport } from "../../sockets/transport.ts";
import { continueTimeoutMs } from "../upstream.ts";
import { renderLastChunk } from "./request-head.ts";

/** The connection, as far as a request is written to it. */
export type RequestTransport = Pick<
  Transport,
  "takesViews" | "waitingBytes" | "writeText" | "writeBytes" | "whenTaken"
>;

/** Events of the writer; nothing follows `onBodyFailed`. */
export type RequestBodyEvents = {
  /** The body cannot be completed; `text` is for the access log. */
  onBodyFailed(text: string): void;
};

/** A buffer up to this size is joined with its framing into one write; a larger one is not copied. */
const joinBytes = 8192;
/** From this much on that waits for the system nothing more is taken from the source. */
const maxWaitingBytes = 65_536;
/** Most pieces that wait for the system: each takes memory of its own, however small it is. */
const maxWaitingPieces = 64;

/**
 * Writes a request that has a body: the head with the first bytes of the body in one write when they are available,
 * then the body at the pace of the connection, framed by Content-Length or the chunked coding.
 */
export class RequestBodyWriter implements BodySink {
  private readonly transport: RequestTransport;
  private readonly body: RequestBody;
  private readonly events: RequestBodyEvents;
  private readonly length: number | undefined;
  /** The head until it is written. */
  private head: string;
  private sentBytes = 0;
  private blocked = false;
  /** Pieces since the socket had taken everything. */
  private waitingPieces = 0;
  private stopped = false;
  private ended = false;
  private continueTimer: NodeJS.Timeout | undefined = undefined;

  constructor(transport: RequestTransport, head: string, body: RequestBody, events: RequestBodyEvents) {
    this.transport = transport;
    this.head = head;
    this.body = body;
    this.length = body.length;
    this.events = events;
  }

  get takesViews(): boolean {
    return this.transport.takesViews;
  }

  /** True when the upstream has been sent everything that the head announced. */
  get complete(): boolean {
    return this.ended || (this.length !== undefined && this.sentBytes === this.length);
  }

  /** Sends head and body; with `expectContinue` the body waits for `proceed`, at most a second. */
  start(options: { readonly expectContinue: boolean }): void {
    if (options.expectContinue) {
      this.flushHead();
      this.continueTimer = setTimeout(() => this.proceed(), continueTimeoutMs);
      return;
    }
    this.body.start(this);
    // A source that is a stream has its first piece ready later in this turn.
    if (this.head !== "") process.nextTick(flushHead, this);
  }

  /** Starts a body that waits for `100 Continue`. */
  proceed(): void {
    if (this.continueTimer === undefined) return;
    clearTimeout(this.continueTimer);
    this.continueTimer = undefined;
    this.body.start(this);
  }

  /** Stops sending, even when the source has more. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.continueTimer);
    this.continueTimer = undefined;
  }

  /** The system has taken what was written. */
  drained(): void {
    if (!this.blocked) return;
    this.blocked = false;
    this.waitingPieces = 0;
    if (!this.stopped && !this.ended) this.body.resume();
  }

  onData(chunk: Chunk): boolean {
    if (this.stopped) return false;
    // An empty chunk would end a chunked body.
    if (chunk.length === 0) return !this.blocked;
    this.sentBytes += chunk.length;
    if (this.length === undefined) {
      this.write(`${chunk.length.toString(16)}\r\n`, chunk, "\r\n");
    } else if (this.sentBytes <= this.length) {
      this.write("", chunk, "");
    } else {
      this.fail("request body longer than declared");
      return false;
    }
    // What the system took at once needs no wait.
    const { waitingBytes } = this.transport;
    this.waitingPieces = waitingBytes === 0 ? 0 : this.waitingPieces + 1;
    this.blocked = waitingBytes >= maxWaitingBytes || this.waitingPieces >= maxWaitingPieces;
    if (this.blocked) this.transport.whenTaken();
    return !this.blocked;
  }

  onEnd(trailers: HeaderList | undefined): void {
    if (this.stopped || this.ended) return;
    if (this.length === undefined) this.write(renderLastChunk(trailers), "", "");
    else if (this.sentBytes < this.length) return this.fail("request body shorter than declared");
    this.ended = true;
  }

  onAbort(reason: BodyAbortReason): void {
    if (!this.stopped && !this.complete) this.fail(abortTexts[reason]);
  }

  private fail(text: string): void {
    this.stop();
    this.events.onBodyFailed(text);
  }

  /** Writes the head if nothing has carried it yet. */
  flushHead(): void {
    if (this.head !== "" && !this.stopped) this.write("", "", "");
  }

  private write(before: string, chunk: Chunk, after: string): void {
    const { transport } = this;
    const prefix = this.head + before;
    this.head = "";
    if (typeof chunk === "string") transport.writeText(prefix + chunk + after);
    else if (prefix === "") transport.writeBytes("", chunk, after);
    else if (chunk.length <= joinBytes) transport.writeText(prefix + chunk.toString("latin1") + after);
    else transport.writeBytes(prefix, chunk, after);
  }
}

const flushHead = (writer: RequestBodyWriter): void => writer.flushHead();

const abortTexts: { readonly [Reason in BodyAbortReason]: string } = {
  "client-closed": "client closed",
  timeout: "request body timeout",
  malformed: "malformed request body",
  "too-large": "request body too large",
};
