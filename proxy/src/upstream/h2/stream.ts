import type {
  BodyAbortReason,
  BodySink,
  Chunk,
  HeaderList,
  ReadonlyHeaderList,
  ResponseHead,
} from "../../message/message.ts";
import { isIdempotent } from "../../message/methods.ts";
import { upstreamError, type UpstreamError } from "../upstream-errors.ts";
import {
  continueTimeoutMs,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamStream,
} from "../upstream.ts";
import { maxHeadBytes } from "./response-rules.ts";
import type { UpstreamSession, WireEnd, WireEvents, WireStream } from "./session.ts";

/** The most 1xx heads of one response, which might all be sent to the client together; more are an attack. */
const maxInformational = 16;

/** Takes requests that wait for a connection, and returned ones that need another connection. */
export type StreamQueue = {
  /** `refusedBy` is the connection on which the server has not processed the request. */
  enqueue(request: Http2UpstreamStream, refusedBy?: UpstreamSession): void;
  dequeue(request: Http2UpstreamStream): void;
};

/** One request on its way through a session, or waiting for one. */
export class Http2UpstreamStream implements UpstreamStream, BodySink, WireEvents {
  private readonly request: UpstreamRequest;
  private readonly handler: UpstreamHandler;
  private readonly queue: StreamQueue;
  private wire: WireStream | undefined = undefined;
  /** Whether the session had carried a request before. */
  private reused = false;
  /** Whether the outcome was reported or the request was aborted. */
  private settled = false;
  private replaced = false;
  private responded = false;
  private informational = 0;
  private informationalBytes = 0;
  private bodyStarted = false;
  private bodyPaused = false;
  private continueTimer: NodeJS.Timeout | undefined = undefined;

  constructor(request: UpstreamRequest, handler: UpstreamHandler, queue: StreamQueue) {
    this.request = request;
    this.handler = handler;
    this.queue = queue;
  }

  /** Limit of a connect for this request in milliseconds; undefined for that of the endpoint. */
  get connectTimeoutMs(): number | undefined {
    return this.request.connectTimeoutMs;
  }

  resume(): void {
    this.wire?.resume();
  }

  abort(): void {
    if (this.settled) return;
    this.settle();
    this.queue.dequeue(this);
    this.wire?.cancel();
  }

  /** Fails a request that no session accepted or whose response is unusable. */
  fail(error: UpstreamError): void {
    if (this.settled) return;
    this.settle();
    this.wire?.cancel();
    this.handler.onError(error);
  }

  /** Sends the request over a session that has room for it. */
  open(session: UpstreamSession, reused: boolean): void {
    const { request } = this;
    this.reused = reused;
    this.wire = session.open(request, this);
    this.handler.onConnection(reused);
    if (request.body === null || this.settled) return;
    if (request.expectContinue) {
      this.continueTimer = setTimeout(() => this.startBody(), continueTimeoutMs);
    } else {
      this.startBody();
    }
  }

  get takesViews(): boolean {
    return this.wire?.takesViews === true;
  }

  onData(chunk: Chunk): boolean {
    const { wire } = this;
    if (wire === undefined || this.settled) return false;
    const more = wire.write(chunk);
    this.bodyPaused = !more;
    return more;
  }

  onEnd(trailers: ReadonlyHeaderList | undefined): void {
    if (!this.settled) this.wire?.end(trailers);
  }

  onAbort(reason: BodyAbortReason): void {
    // Deferred, because the caller of `send` has no stream to abort before `send` returns.
    queueMicrotask(() =>
      this.fail(upstreamError("request-body", `request body: ${reason}`, { requestSent: true })),
    );
  }

  private startBody(): void {
    clearTimeout(this.continueTimer);
    if (this.settled || this.bodyStarted) return;
    this.bodyStarted = true;
    this.request.body?.start(this);
  }

  onDrain(): void {
    if (this.settled || !this.bodyPaused) return;
    this.bodyPaused = false;
    this.request.body?.resume();
  }

  onInformational(status: number, headers: HeaderList): void {
    if (this.settled) return;
    for (const text of headers) this.informationalBytes += text.length;
    if (++this.informational > maxInformational || this.informationalBytes > maxHeadBytes) {
      return this.onInvalid("too many 1xx responses");
    }
    this.handler.onInformational(status, headers);
    // Only after the 100 was relayed: a body that starts earlier would send the client another 100.
    if (status === 100) this.startBody();
  }

  onHead(head: ResponseHead): void {
    if (this.settled) return;
    this.responded = true;
    this.handler.onHead(head);
    if (!this.settled) this.startBody();
  }

  onResponseData(chunk: Chunk): boolean {
    return !this.settled && this.handler.onData(chunk);
  }

  get pendingBytes(): number | undefined {
    return this.handler.pendingBytes;
  }

  get copies(): boolean {
    return this.handler.copies === true;
  }

  onResponseEnd(trailers: HeaderList | undefined): void {
    if (this.settled) return;
    this.settle();
    this.wire?.stopSending();
    this.handler.onEnd(trailers);
  }

  onInvalid(text: string): void {
    this.fail(upstreamError("invalid", text, { requestSent: true }));
  }

  onClose(end: WireEnd): void {
    if (this.settled) return;
    if (this.mayReplace(end)) {
      this.takeBack();
      if (end.refusedBy !== undefined) this.handler.onRefused?.();
      this.queue.enqueue(this, end.refusedBy);
      return;
    }
    this.settle();
    this.handler.onError(end.error);
  }

  /** Reports whether another connection may carry the request: once, if it was not acted on and can be sent in full. */
  private mayReplace({ refusedBy, isLost }: WireEnd): boolean {
    if (this.replaced || this.responded || this.informational > 0) return false;
    if (refusedBy === undefined && !(this.reused && isLost && isIdempotent(this.request.method)))
      return false;
    return !this.bodyStarted || this.request.body?.restartable === true;
  }

  /** Resets the state to before the request was sent. */
  private takeBack(): void {
    clearTimeout(this.continueTimer);
    this.replaced = true;
    this.wire = undefined;
    if (this.bodyStarted) this.request.body?.restart?.();
    this.bodyStarted = false;
    this.bodyPaused = false;
  }

  private settle(): void {
    this.settled = true;
    clearTimeout(this.continueTimer);
  }
}
