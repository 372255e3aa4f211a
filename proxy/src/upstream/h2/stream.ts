import { type ClientHttp2Stream, constants } from "node:http2";
import { resetStream } from "../../http/h2/reset-stream.ts";
import { appendFields, fieldObject } from "../../http2/fields.ts";
import type {
  BodyAbortReason,
  BodySink,
  Chunk,
  HeaderList,
  ReadonlyHeaderList,
} from "../../message/message.ts";
import { isIdempotent } from "../../message/methods.ts";
import { ignore } from "../../sockets/ignore.ts";
import { upstreamError, type UpstreamError } from "../upstream-errors.ts";
import {
  continueTimeoutMs,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamStream,
} from "../upstream.ts";
import { readResponseHead } from "./response-head.ts";
import type { UpstreamSession } from "./session.ts";

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR, NGHTTP2_PROTOCOL_ERROR } = constants;

/** 1xx heads of one response; more is an attack. */
const maxInformational = 16;

/** Takes a request back for another connection. */
export type StreamQueue = {
  /** `refusedBy`: the connection on which the server has not processed it. */
  enqueue(request: Http2UpstreamStream, refusedBy?: UpstreamSession): void;
  dequeue(request: Http2UpstreamStream): void;
};

/** One request on its way through a session, or waiting for one. */
export class Http2UpstreamStream implements UpstreamStream, BodySink {
  private readonly request: UpstreamRequest;
  private readonly handler: UpstreamHandler;
  private readonly queue: StreamQueue;
  private session: UpstreamSession | undefined = undefined;
  private stream: ClientHttp2Stream | undefined = undefined;
  /** The outcome was reported, or the request was aborted. */
  private settled = false;
  private replaced = false;
  private responded = false;
  /** END_STREAM of the response was received: its end is not a reset. */
  private complete = false;
  private informational = 0;
  private trailers: HeaderList | undefined = undefined;
  private requestTrailers: ReadonlyHeaderList | undefined = undefined;
  private bodyStarted = false;
  private bodyPaused = false;
  private continueTimer: NodeJS.Timeout | undefined = undefined;

  constructor(request: UpstreamRequest, handler: UpstreamHandler, queue: StreamQueue) {
    this.request = request;
    this.handler = handler;
    this.queue = queue;
  }

  /** Limit of a connect for this request in milliseconds; undefined: that of the endpoint. */
  get connectTimeoutMs(): number | undefined {
    return this.request.connectTimeoutMs;
  }

  resume(): void {
    this.stream?.resume();
  }

  abort(): void {
    if (this.settled) return;
    this.settle();
    this.queue.dequeue(this);
    this.cancel();
  }

  private cancel(): void {
    if (this.stream !== undefined) this.reset(this.stream);
  }

  /** Ignores all later events of the stream. */
  private reset(stream: ClientHttp2Stream): void {
    resetStream(stream, NGHTTP2_CANCEL);
    this.session?.abandon(stream);
  }

  /** No session took the request. */
  fail(error: UpstreamError): void {
    if (this.settled) return;
    this.settle();
    this.cancel();
    this.handler.onError(error);
  }

  /** Sends the request over a session that has room for it. */
  open(session: UpstreamSession, reused: boolean): void {
    const { request } = this;
    const stream = session.request(requestFields(request), request.body !== null);
    this.session = session;
    this.stream = stream;
    this.watchEnd(stream);
    // Every failure also closes the stream, which is where it is dealt with.
    stream.on("error", ignore);
    stream.on("headers", (_headers, _flags, raw) => this.onInformational(raw as HeaderList));
    stream.on("response", (_headers, flags, raw) => this.onResponse(flags, raw as HeaderList));
    stream.on("close", () => this.onClose(stream, session, reused));
    this.handler.onConnection(reused);
    if (request.body === null || this.settled) return;
    stream.on("wantTrailers", () => this.sendTrailers(stream));
    stream.on("drain", () => this.onDrain());
    if (request.expectContinue) {
      this.continueTimer = setTimeout(() => this.startBody(), continueTimeoutMs);
    } else {
      this.startBody();
    }
  }

  onData(chunk: Chunk): boolean {
    const { stream } = this;
    if (stream === undefined || this.settled || stream.closed) return false;
    const more = stream.write(chunk, "latin1");
    this.bodyPaused = !more;
    return more;
  }

  onEnd(trailers: HeaderList | undefined): void {
    this.requestTrailers = trailers;
    if (!this.settled) this.stream?.end();
  }

  onAbort(reason: BodyAbortReason): void {
    // Not within `send`, whose caller has no stream to abort yet.
    queueMicrotask(() => {
      if (this.settled) return;
      this.settle();
      this.cancel();
      this.handler.onError(upstreamError("request-body", `request body: ${reason}`, { requestSent: true }));
    });
  }

  /**
   * Notes whether the readable side ended by END_STREAM or by the end of the stream: a reset with NO_ERROR looks the
   * same to every event, but comes when the stream is already closed.
   */
  private watchEnd(stream: ClientHttp2Stream): void {
    const push = stream.push.bind(stream);
    stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk === null && !stream.closed) this.complete = true;
      return push(chunk, encoding);
    };
  }

  private startBody(): void {
    clearTimeout(this.continueTimer);
    if (this.settled || this.bodyStarted) return;
    this.bodyStarted = true;
    this.request.body?.start(this);
  }

  private onDrain(): void {
    if (this.settled || !this.bodyPaused) return;
    this.bodyPaused = false;
    this.request.body?.resume();
  }

  private sendTrailers(stream: ClientHttp2Stream): void {
    if (stream.destroyed || stream.closed) return;
    stream.sendTrailers(this.requestTrailers === undefined ? {} : fieldObject(this.requestTrailers));
  }

  private onInformational(raw: HeaderList): void {
    if (this.settled) return;
    if (++this.informational > maxInformational) return this.invalid("too many 1xx responses");
    const head = readResponseHead(raw, this.request.method);
    if (!head.ok) return this.invalid(head.error);
    if (head.value.status === 100) this.startBody();
    this.handler.onInformational(head.value.status, head.value.headers);
  }

  private onResponse(flags: number, raw: HeaderList): void {
    const { stream } = this;
    if (this.settled || stream === undefined) return;
    const head = readResponseHead(raw, this.request.method);
    if (!head.ok) return this.invalid(head.error);
    if (head.value.status < 200) return this.invalid("1xx response without a final one");
    this.responded = true;
    if ((flags & NGHTTP2_FLAG_END_STREAM) !== 0 && !head.value.bodyless) head.value.length ??= 0;
    stream.on("trailers", (_headers, _flags, list) => {
      this.trailers = list as HeaderList;
    });
    stream.on("data", (chunk: Buffer) => this.onResponseData(stream, chunk));
    stream.on("end", () => this.onResponseEnd(stream));
    this.handler.onHead(head.value);
    if (!this.settled) this.startBody();
  }

  private onResponseData(stream: ClientHttp2Stream, chunk: Buffer): void {
    if (this.settled) return;
    if (!this.handler.onData(chunk)) stream.pause();
  }

  private onResponseEnd(stream: ClientHttp2Stream): void {
    if (this.settled || !this.complete) return;
    this.settle();
    // The rest of the request is not needed any more. Not reset within this turn: while Node reads from the session, it
    // sends END_STREAM ahead of the reset, and half a body would look complete.
    if (!stream.writableFinished) setImmediate(() => this.reset(stream));
    this.handler.onEnd(this.trailers);
  }

  private invalid(text: string): void {
    this.fail(upstreamError("invalid", text, { requestSent: true }));
  }

  private onClose(stream: ClientHttp2Stream, session: UpstreamSession, reused: boolean): void {
    const refused = session.release(stream);
    if (this.settled || this.stream !== stream) return;
    if (this.mayReplace(refused, reused)) {
      this.takeBack();
      if (refused) this.handler.onRefused?.();
      this.queue.enqueue(this, refused ? session : undefined);
      return;
    }
    this.settle();
    this.handler.onError(this.closeError(stream, refused));
  }

  /** Another connection may take the request, once, if it has not been acted on and can be sent from its beginning. */
  private mayReplace(refused: boolean, reused: boolean): boolean {
    if (this.replaced || this.responded || this.informational > 0) return false;
    if (refused) return !this.bodyStarted || this.request.body?.restartable === true;
    return reused && !this.bodyStarted && this.session?.lost === true && isIdempotent(this.request.method);
  }

  /** Resets the state to before the request was sent. */
  private takeBack(): void {
    clearTimeout(this.continueTimer);
    this.replaced = true;
    this.stream = undefined;
    this.session = undefined;
    if (this.bodyStarted) this.request.body?.restart?.();
    this.bodyStarted = false;
    this.bodyPaused = false;
    this.requestTrailers = undefined;
  }

  private closeError(stream: ClientHttp2Stream, refused: boolean): UpstreamError {
    if (refused) return upstreamError("reset", "stream refused", { requestSent: false });
    const fault = this.session?.fault;
    if (fault !== undefined) return fault;
    if (this.session?.lost === true)
      return upstreamError("reset", "connection closed", { requestSent: true });
    const { rstCode } = stream;
    if (rstCode === NGHTTP2_PROTOCOL_ERROR) {
      return upstreamError("invalid", "stream reset: PROTOCOL_ERROR", { requestSent: true });
    }
    const text = rstCode === NGHTTP2_NO_ERROR ? "response cut off" : `stream reset: ${errorName(rstCode)}`;
    return upstreamError("reset", text, { requestSent: true });
  }

  private settle(): void {
    this.settled = true;
    clearTimeout(this.continueTimer);
  }
}

/** Names of RFC 9113 7 by code. */
const errorNames = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
] as const;

const errorName = (code: number): string => errorNames[code] ?? `code ${code}`;

function requestFields(request: UpstreamRequest): string[] {
  const fields = [":method", request.method, ":scheme", request.scheme];
  if (request.authority !== "") fields.push(":authority", request.authority);
  fields.push(":path", request.target);
  appendFields(fields, withoutHost(request.headers));
  const length = request.body?.length;
  if (length !== undefined) fields.push("content-length", String(length));
  if (request.expectContinue) fields.push("expect", "100-continue");
  return fields;
}

/** `:authority` replaces it (RFC 9113 8.3.1). */
function withoutHost(headers: HeaderList): ReadonlyHeaderList {
  if (headers[0]?.toLowerCase() !== "host") return headers;
  return headers.slice(2);
}
