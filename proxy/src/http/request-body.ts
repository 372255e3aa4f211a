import type {
  BodyAbortReason,
  BodySink,
  Chunk,
  ClientStream,
  HeaderList,
  RequestBody,
} from "../message/message.ts";
import { ReplayBuffer } from "./replay-buffer.ts";

/** What a request body does on its way besides passing it on. */
export type OutgoingBodyOptions = {
  /** Most bytes that may pass. */
  readonly maxBytes: number;
  /** The client waits for a 100 before it sends its body. */
  readonly expectContinue: boolean;
  /** Most bytes kept, so that the body can be sent again; 0: none. */
  readonly replayBytes: number;
  /** Whether the beginning of a body that declares more than that is kept until there is more of it. */
  readonly keepsBeginning: boolean;
  readonly onProgress: () => void;
  /** Which of the client's trailers go on; asked once, at the end. */
  readonly relayTrailers: (trailers: HeaderList) => HeaderList | undefined;
};

/**
 * The request body on its way to an upstream: counts bytes against the limit, answers `Expect: 100-continue` when
 * nobody else did, and remembers why a body was cut, so that the pipeline can answer the client properly. A body that
 * was kept whole can be sent again, to another upstream; one of which all that was read is kept, by the same one.
 */
export class OutgoingBody implements RequestBody, BodySink {
  readonly length: number | undefined;
  abortReason: BodyAbortReason | undefined = undefined;
  receivedBytes = 0;
  /** Called when all of the body has been handed over. */
  onEnded: (() => void) | undefined = undefined;
  /** The client still waits for a 100. */
  awaitsContinue: boolean;
  private readonly source: RequestBody;
  private readonly client: ClientStream;
  private readonly options: OutgoingBodyOptions;
  private sink: BodySink | undefined = undefined;
  ended = false;
  private trailers: HeaderList | undefined = undefined;
  private kept: ReplayBuffer | undefined;
  /** What has come while nobody had the body. */
  private late: Chunk[] = [];
  /** The end of a replay, held back while its sink is full. */
  private endAfterResume = false;
  /** Those who get a copy. */
  private taps: BodySink[] | undefined = undefined;

  constructor(source: RequestBody, client: ClientStream, options: OutgoingBodyOptions) {
    this.source = source;
    this.client = client;
    this.length = source.length;
    this.options = options;
    this.awaitsContinue = options.expectContinue;
    const { replayBytes, keepsBeginning } = options;
    const fits = replayBytes >= (source.length ?? 1) || (keepsBeginning && replayBytes > 0);
    this.kept = fits ? new ReplayBuffer(replayBytes) : undefined;
  }

  get started(): boolean {
    return this.sink !== undefined;
  }

  /** All of the body is here. */
  get complete(): boolean {
    return this.ended && this.kept !== undefined && !this.kept.overflowed;
  }

  /** Whether another upstream can be sent the same body. */
  get replayable(): boolean {
    return this.abortReason === undefined && (!this.source.started || this.complete);
  }

  get restartable(): boolean {
    if (this.abortReason !== undefined) return false;
    return !this.source.started || (this.kept !== undefined && !this.kept.overflowed);
  }

  restart(): void {
    this.sink = undefined;
    this.endAfterResume = false;
  }

  /** The body is for another upstream; whoever had it before hears nothing more. */
  rewind(): void {
    this.restart();
    this.onEnded = undefined;
  }

  /** Gives a copy of the body, as it comes, to a sink whose answers do not matter; before the body is started. */
  tap(sink: BodySink): void {
    if (this.taps === undefined) this.taps = [sink];
    else this.taps.push(sink);
  }

  /** The exchange has ended: what has not come by now never will. */
  close(): void {
    if (this.taps !== undefined && !this.ended) for (const tap of this.taps) tap.onAbort("client-closed");
  }

  /** Nobody will ask for the body again. */
  forget(): void {
    this.kept = undefined;
  }

  /** The upstream's own 100 was relayed: none is needed from us. */
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
  }

  resume(): void {
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
    return this.sink.onData(chunk);
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
