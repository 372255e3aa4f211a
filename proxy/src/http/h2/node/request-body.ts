import type { ServerHttp2Stream } from "node:http2";
import { streamWindowBytes } from "../../../http2/settings.ts";
import type { BodyAbortReason, BodySink, HeaderList, RequestBody } from "../../../message/message.ts";
import { awake } from "../../../timing/awake-clock.ts";
import { dataFrameOverheadBytes, type FloodGuard } from "./flood-guard.ts";

/** What the compression and frames may add to each name and value of trailers. */
const trailerOverheadBytes = 8;

/**
 * The body of one HTTP/2 request. Until `start` and while the sink is full Node takes no more than the stream's window
 * (64 KiB) from the client, because it renews the window only for what was read.
 */
export class Http2RequestBody implements RequestBody {
  readonly length: number | undefined;
  started = false;
  /** Milliseconds of the awake clock since when the client owes us data; 0 while it does not. */
  waitingSinceMs = 0;
  /** The sink has heard the end, or the body has been given up. */
  settled = false;
  /** The client has sent everything. */
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

  /** Bytes that were received and not delivered yet. */
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
    // Without a byte in it Node ends the stream by itself, before anybody has listened.
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

  /** The body will not be completed; later bytes are dropped. */
  abort(reason: BodyAbortReason): void {
    if (this.settled) return;
    this.settled = true;
    this.waitingSinceMs = 0;
    this.abortReason = reason;
    // What the client sends before it learns of this arrives unread, at most its window.
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
    // A reset, too, ends the readable side; only the state of the stream shows which it was.
    if (this.stream.aborted || this.stream.rstCode !== 0) return;
    this.settled = true;
    this.complete = true;
    this.waitingSinceMs = 0;
    this.sink?.onEnd(this.trailers);
  }
}
