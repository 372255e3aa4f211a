import type { ServerHttp2Stream } from "node:http2";
import { streamWindowBytes } from "../../../http2/settings.ts";
import type { BodyAbortReason, BodySink, HeaderList, RequestBody } from "../../../message/message.ts";
import { awake } from "../../../timing/awake-clock.ts";
import { dataFrameOverheadBytes, type FloodGuard } from "./flood-guard.ts";

/** The bytes that compression and framing can add to each name and value of trailers. */
const trailerOverheadBytes = 8;

/**
 * The body of one HTTP/2 request. Until `start` and while the sink is full, Node accepts no more than the window of the
 * stream (64 KiB) from the client, because it renews the window only for bytes that were read.
 */
export class Http2RequestBody implements RequestBody {
  readonly length: number | undefined;
  started = false;
  /** The time since which data of the client is awaited, in milliseconds of the awake clock; 0 if none is. */
  waitingSinceMs = 0;
  /** True once the end was passed to the sink, or the body was aborted. */
  settled = false;
  /** True once the client has sent the whole body. */
  complete = false;
  private readonly stream: ServerHttp2Stream;
  private readonly guard: FloodGuard;
  private sink: BodySink | undefined = undefined;
  private trailers: HeaderList | undefined = undefined;
  private abortReason: BodyAbortReason | undefined = undefined;

  constructor(stream: ServerHttp2Stream, length: number | undefined, guard: FloodGuard) {
    this.stream = stream;
    this.length = length;
    this.guard = guard;
    stream.on("trailers", (_headers, _flags, raw) => {
      this.trailers = raw as HeaderList;
      for (const text of this.trailers) this.guard.explain(text.length + trailerOverheadBytes);
    });
  }

  /** Bytes that were received and not passed on yet. */
  get unreadBytes(): number {
    return this.stream.readableLength;
  }

  start(sink: BodySink): void {
    this.started = true;
    if (this.settled) {
      sink.onAbort(this.abortReason ?? "client-closed");
      return;
    }
    this.sink = sink;
    this.waitingSinceMs = awake.nowMs;
    // Node ends the readable side of an empty body on its own, before a listener is added.
    if (this.stream.readableEnded) {
      this.onEnd();
      return;
    }
    this.stream.on("data", (chunk: Buffer) => this.onData(chunk));
    this.stream.on("end", () => this.onEnd());
  }

  resume(): void {
    if (this.settled || !this.started) return;
    this.waitingSinceMs = awake.nowMs;
    this.stream.resume();
  }

  /** Aborts the body, which will not be completed; later bytes are dropped. */
  abort(reason: BodyAbortReason): void {
    if (this.settled) return;
    this.settled = true;
    this.waitingSinceMs = 0;
    this.abortReason = reason;
    // Up to a window of data that the client sends before it learns of this arrives and is not read.
    this.guard.explain(streamWindowBytes);
    this.sink?.onAbort(reason);
  }

  private onData(chunk: Buffer): void {
    this.guard.explain(chunk.length + dataFrameOverheadBytes);
    if (this.settled) return;
    const more = this.sink?.onData(chunk) === true;
    if (this.settled) return;
    if (more) {
      this.waitingSinceMs = awake.nowMs;
    } else {
      this.waitingSinceMs = 0;
      this.stream.pause();
    }
  }

  private onEnd(): void {
    if (this.settled) return;
    // A reset also ends the readable side; only the state of the stream distinguishes the two.
    if (this.stream.aborted || this.stream.rstCode !== 0) return;
    this.settled = true;
    this.complete = true;
    this.waitingSinceMs = 0;
    this.sink?.onEnd(this.trailers);
  }
}
