import type { BodyAbortReason, BodySink, Chunk, HeaderList, RequestBody } from "../../message/message.ts";
import { flushLater } from "../../sockets/flush-later.ts";
import type { Transport } from "../../sockets/transport.ts";
import { continueTimeoutMs } from "../upstream.ts";
import { JoinedPieces } from "./joined-pieces.ts";
import { renderLastChunk } from "./request-head.ts";

/** The part of a transport that a request is written to. */
export type RequestTransport = Pick<
  Transport,
  "takesViews" | "waitingBytes" | "writeText" | "writeBytes" | "lendBytes" | "whenTaken"
>;

/** Events of the writer; nothing follows `onBodyFailed`. */
export type RequestBodyEvents = {
  /** The body cannot be completed; `text` is for the access log. */
  onBodyFailed(text: string): void;
};

/** A buffer up to this size is joined with its framing into one write; a larger one is not copied. */
const joinBytes = 8192;
/** The smallest piece that gets its own write, without a copy. */
const minOwnWriteBytes = 32_768;
/** The number of bytes waiting for the kernel at which the source is paused. */
const maxWaitingBytes = 65_536;
/**
 * The number of pieces waiting for the kernel at which the source is paused. Each needs its own memory, however small.
 */
const maxWaitingPieces = 64;

/**
 * Writes a request that has a body, framed by Content-Length or the chunked coding, at the pace of the connection.
 * Large pieces and the last one are written immediately. Small pieces that others might follow are written together,
 * and with the head, at the end of the turn.
 */
export class RequestBodyWriter implements BodySink {
  private readonly transport: RequestTransport;
  private readonly body: RequestBody;
  private readonly events: RequestBodyEvents;
  private readonly length: number | undefined;
  /** The head until it is written. */
  private head: string;
  /** The number of body bytes received from the source. */
  private sentBytes = 0;
  /** Small pieces of this turn, and the head before them. */
  private readonly joined = new JoinedPieces();
  private isFlushDue = false;
  private blocked = false;
  /** The number of pieces written since the kernel last accepted everything. */
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

  /** Whether everything that the head announced has been written or joined for a write. */
  get complete(): boolean {
    return this.ended || (this.length !== undefined && this.sentBytes === this.length);
  }

  /** Sends head and body; with `expectContinue` the body waits for `proceed`, at most a second. */
  start(options: { readonly expectContinue: boolean }): void {
    if (options.expectContinue) {
      this.flush();
      this.continueTimer = setTimeout(() => this.proceed(), continueTimeoutMs);
      return;
    }
    this.body.start(this);
    // The first piece can still arrive in this turn.
    if (this.head !== "") this.flushLater();
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
    this.joined.drop();
    clearTimeout(this.continueTimer);
    this.continueTimer = undefined;
  }

  /** The kernel has accepted everything that was written. */
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
      this.put(`${chunk.length.toString(16)}\r\n`, chunk, "\r\n");
    } else if (this.sentBytes <= this.length) {
      this.put("", chunk, "");
    } else {
      this.fail("request body longer than declared");
      return false;
    }
    if (this.blocked) this.transport.whenTaken();
    return !this.blocked;
  }

  onEnd(trailers: HeaderList | undefined): void {
    if (this.stopped || this.ended) return;
    if (this.length === undefined) {
      const last = renderLastChunk(trailers);
      if (this.joined.bytes === 0 || !this.joined.add("", last, "")) this.write(last, "", "");
    } else if (this.sentBytes < this.length) return this.fail("request body shorter than declared");
    this.flush();
    this.ended = true;
  }

  onAbort(reason: BodyAbortReason): void {
    if (!this.stopped && !this.complete) this.fail(abortTexts[reason]);
  }

  private fail(text: string): void {
    this.stop();
    this.events.onBodyFailed(text);
  }

  /** Writes the pieces of this turn, or the head if it has not been written yet. */
  flush(): void {
    this.isFlushDue = false;
    if (this.stopped) return;
    if (this.joined.bytes > 0) this.joined.writeTo(this.transport);
    else if (this.head !== "") this.write("", "", "");
  }

  private flushLater(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    flushLater(this);
  }

  /** Reports whether to join a piece with others: more might follow in this turn, and no data waits for the kernel. */
  private isJoined(length: number): boolean {
    if (this.joined.bytes > 0) return true;
    return !this.complete && length < minOwnWriteBytes && this.transport.waitingBytes === 0;
  }

  private put(before: string, chunk: Chunk, after: string): void {
    const { joined, transport } = this;
    if (this.isJoined(chunk.length) && joined.add(this.head + before, chunk, after)) {
      this.head = "";
      if (!this.complete && joined.bytes < maxWaitingBytes) return this.flushLater();
      joined.writeTo(transport);
    } else this.write(before, chunk, after);
    // No wait is needed if the kernel accepted everything immediately.
    const { waitingBytes } = transport;
    this.waitingPieces = waitingBytes === 0 ? 0 : this.waitingPieces + 1;
    this.blocked = waitingBytes >= maxWaitingBytes || this.waitingPieces >= maxWaitingPieces;
  }

  /** Writes a piece after the joined ones. */
  private write(before: string, chunk: Chunk, after: string): void {
    const { transport } = this;
    this.joined.writeTo(transport);
    const prefix = this.head + before;
    this.head = "";
    if (typeof chunk === "string") transport.writeText(prefix + chunk + after);
    else if (prefix === "") transport.writeBytes("", chunk, after);
    else if (chunk.length <= joinBytes) transport.writeText(prefix + chunk.toString("latin1") + after);
    else transport.writeBytes(prefix, chunk, after);
  }
}

const abortTexts: { readonly [Reason in BodyAbortReason]: string } = {
  "client-closed": "client closed",
  timeout: "request body timeout",
  malformed: "malformed request body",
  "too-large": "request body too large",
};
