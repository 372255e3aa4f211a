import type { Exchange } from "../exchange/exchange.ts";
import type {
  BodyAbortReason,
  BodySink,
  Chunk,
  ClientStream,
  HeaderList,
  RequestBody,
} from "../message/message.ts";
import { isIdempotent } from "../message/methods.ts";
import { relayedTrailers } from "../message/trailers.ts";
import { awake } from "../timing/awake-clock.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { ReplayBuffer } from "./replay-buffer.ts";

/** Settings of an outgoing body. */
export type OutgoingBodyOptions = {
  /** The most bytes of the body; a larger one is aborted. */
  readonly maxBytes: number;
  /** The client waits for a 100 before it sends its body. */
  readonly expectContinue: boolean;
  /** The most bytes that are kept for sending the body again; 0: none. More than these are not kept. */
  readonly replayBytes: number;
  readonly onProgress: () => void;
  /** Filters the client's trailers; called once, at the end. */
  readonly relayTrailers: (trailers: HeaderList) => HeaderList | undefined;
};

/**
 * The request body on its way to an upstream: counts bytes against the limit, answers `Expect: 100-continue` when the
 * upstream did not, and remembers why a body was cut, so that the pipeline can answer the client properly. A body of
 * which everything read so far is kept can be sent again (`restartable`), to the same upstream or to another one.
 */
export class OutgoingBody implements RequestBody, BodySink {
  readonly length: number | undefined;
  abortReason: BodyAbortReason | undefined = undefined;
  receivedBytes = 0;
  /** Called when the whole body has been passed on. */
  onEnded: (() => void) | undefined = undefined;
  /** Called when the upstream stops accepting data, and when it accepts more again. */
  onPace: ((isBlocked: boolean) => void) | undefined = undefined;
  /** True while the client waits for a 100. */
  awaitsContinue: boolean;
  private readonly source: RequestBody;
  private readonly client: ClientStream;
  private readonly options: OutgoingBodyOptions;
  private sink: BodySink | undefined = undefined;
  ended = false;
  private trailers: HeaderList | undefined = undefined;
  private kept: ReplayBuffer | undefined;
  /** Chunks that arrived while the body had no sink. */
  private late: Chunk[] = [];
  /** True while the end of a replay is held back because its sink is full. */
  private endAfterResume = false;
  /** The sinks that get a copy. */
  private taps: BodySink[] | undefined = undefined;

  constructor(source: RequestBody, client: ClientStream, options: OutgoingBodyOptions) {
    this.source = source;
    this.client = client;
    this.length = source.length;
    this.options = options;
    this.awaitsContinue = options.expectContinue;
    const { replayBytes } = options;
    this.kept = replayBytes > 0 ? new ReplayBuffer(replayBytes) : undefined;
  }

  /** False with taps or without a sink, when chunks are kept without a copy; bytes for a replay are copied. */
  get takesViews(): boolean {
    return this.taps === undefined && this.sink?.takesViews === true;
  }

  get started(): boolean {
    return this.sink !== undefined;
  }

  get restartable(): boolean {
    if (this.abortReason !== undefined) return false;
    return !this.source.started || (this.kept !== undefined && !this.kept.overflowed);
  }

  restart(): void {
    this.sink = undefined;
    this.endAfterResume = false;
  }

  /** Rewinds the body for another upstream; its sink is not called again. */
  rewind(): void {
    this.restart();
    this.onEnded = undefined;
    this.onPace = undefined;
  }

  /** Copies the body, as it arrives, to a sink whose return values are ignored. Called before the body is started. */
  tap(sink: BodySink): void {
    if (this.taps === undefined) this.taps = [sink];
    else this.taps.push(sink);
  }

  /** Called when the exchange has ended: aborts copies of an incomplete body. */
  close(): void {
    if (this.taps !== undefined && !this.ended) for (const tap of this.taps) tap.onAbort("client-closed");
  }

  /** Drops the kept bytes: the body will not be sent again. */
  forget(): void {
    this.kept = undefined;
  }

  /** Called when the upstream's own 100 was relayed: the proxy sends none. */
  continued(): void {
    this.awaitsContinue = false;
  }

  start(sink: BodySink): void {
    this.sink = sink;
    if (this.abortReason !== undefined) return sink.onAbort(this.abortReason);
    if (this.source.started) return this.replay(sink);
    if (this.awaitsContinue && !this.client.headSent) {
      this.awaitsContinue = false;
      this.client.sendInformational(100, []);
    }
    this.source.start(this);
  }

  private replay(sink: BodySink): void {
    const bytes = this.kept?.bytes;
    const { late } = this;
    this.late = [];
    let more = bytes === undefined || bytes.length === 0 || sink.onData(bytes);
    for (const chunk of late) {
      this.kept?.add(chunk);
      more = sink.onData(chunk);
    }
    if (!this.ended) {
      if (more) this.source.resume();
    } else if (more) this.end(sink);
    else this.endAfterResume = true;
    if (!more) this.onPace?.(true);
  }

  resume(): void {
    this.onPace?.(false);
    if (!this.ended) return this.source.resume();
    if (!this.endAfterResume || this.sink === undefined) return;
    this.endAfterResume = false;
    this.end(this.sink);
  }

  onData(chunk: Chunk): boolean {
    if (this.abortReason !== undefined) return false;
    this.receivedBytes += chunk.length;
    this.options.onProgress();
    if (this.receivedBytes > this.options.maxBytes) {
      this.onAbort("too-large");
      return false;
    }
    if (this.taps !== undefined) for (const tap of this.taps) tap.onData(chunk);
    if (this.sink === undefined) {
      this.late.push(chunk);
      return false;
    }
    this.kept?.add(chunk);
    const more = this.sink.onData(chunk);
    if (!more) this.onPace?.(true);
    return more;
  }

  onEnd(trailers: HeaderList | undefined): void {
    if (this.abortReason !== undefined) return;
    this.ended = true;
    this.trailers = trailers && this.options.relayTrailers(trailers);
    if (this.taps !== undefined) for (const tap of this.taps) tap.onEnd(this.trailers);
    if (this.sink !== undefined) this.end(this.sink);
  }

  private end(sink: BodySink): void {
    sink.onEnd(this.trailers);
    this.onEnded?.();
  }

  onAbort(reason: BodyAbortReason): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    if (this.taps !== undefined) for (const tap of this.taps) tap.onAbort(reason);
    this.sink?.onAbort(reason);
  }
}

/** Creates the outgoing body of a request. `retryBytes` is the most that is kept of a body that may be sent again. */
export function outgoingBodyOf(
  exchange: Exchange,
  source: RequestBody,
  protocol: Upstream["protocol"],
  retryBytes: number,
): OutgoingBody {
  // On every route, a request is sent again if an HTTP/2 server has not processed it (docs/features/http2.md, "Towards
  // backends"), or if it is idempotent and its pooled connection was lost (docs/features/upstream.md, "Connection pool").
  const isKept = exchange.retry !== undefined || protocol === "http2" || isIdempotent(exchange.method);
  return new OutgoingBody(source, exchange.client, {
    maxBytes: exchange.maxBodyBytes,
    expectContinue: exchange.expectContinue,
    replayBytes: isKept ? retryBytes : 0,
    onProgress: () => (exchange.lastActivityMs = awake.nowMs),
    relayTrailers: (trailers) => relayedTrailers(trailers, exchange.headers, exchange.ownedFields),
  });
}
