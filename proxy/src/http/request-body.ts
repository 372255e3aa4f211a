import type { BodyAbortReason, BodySink, Chunk, ClientStream, HeaderList, RequestBody } from "./message.ts";
import { withoutUnsafeTrailers } from "./trailers.ts";

/**
 * The request body on its way to an upstream: counts bytes against the limit, answers `Expect: 100-continue` when
 * nobody else did, and remembers why a body was cut, so that the pipeline can answer the client properly.
 */
export class CountedBody implements RequestBody, BodySink {
  readonly length: number | undefined;
  abortReason: BodyAbortReason | undefined = undefined;
  receivedBytes = 0;
  ended = false;
  /** Called when all of the body has been handed over. */
  onEnded: (() => void) | undefined = undefined;
  private readonly source: RequestBody;
  private readonly client: ClientStream;
  private readonly maxBytes: number;
  private readonly onProgress: () => void;
  private awaitsContinue: boolean;
  private sink: BodySink | undefined = undefined;

  constructor(
    source: RequestBody,
    client: ClientStream,
    options: { readonly maxBytes: number; readonly expectContinue: boolean; readonly onProgress: () => void },
  ) {
    this.source = source;
    this.client = client;
    this.length = source.length;
    this.maxBytes = options.maxBytes;
    this.awaitsContinue = options.expectContinue;
    this.onProgress = options.onProgress;
  }

  get started(): boolean {
    return this.source.started;
  }

  /** The upstream's own 100 was relayed: none is needed from us. */
  continued(): void {
    this.awaitsContinue = false;
  }

  start(sink: BodySink): void {
    this.sink = sink;
    if (this.awaitsContinue && !this.client.headSent) {
      this.awaitsContinue = false;
      this.client.sendInformational(100, []);
    }
    this.source.start(this);
  }

  resume(): void {
    this.source.resume();
  }

  onData(chunk: Chunk): boolean {
    if (this.abortReason !== undefined) return false;
    this.receivedBytes += chunk.length;
    this.onProgress();
    if (this.receivedBytes > this.maxBytes) {
      this.onAbort("too-large");
      return false;
    }
    return this.sink?.onData(chunk) ?? false;
  }

  onEnd(trailers: HeaderList | undefined): void {
    if (this.abortReason !== undefined) return;
    this.ended = true;
    this.sink?.onEnd(trailers === undefined ? undefined : withoutUnsafeTrailers(trailers));
    this.onEnded?.();
  }

  onAbort(reason: BodyAbortReason): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    this.sink?.onAbort(reason);
  }
}
