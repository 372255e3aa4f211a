import type { FrontClock } from "../clock.ts";
import type { BodyAbortReason, BodySink, HeaderList, RequestBody } from "../../../message/message.ts";
import { ChunkedDecoder, type ChunkedRules } from "../../../http1/chunked-decoder.ts";
import { copyOf } from "../../../sockets/copy-of.ts";
import { type BorrowedBytes, lend, type Piece } from "../../../sockets/read-buffer.ts";
import { HeldBytes } from "./held-bytes.ts";
import type { RequestFraming } from "./request-semantics.ts";

/** The number of held bytes of a body at which reading stops. */
const maxHeldBytes = 65_536;

/** The connection that a body arrives on. */
export type BodySource = {
  readonly clock: FrontClock;
  readonly bodyTimeoutMs: number;
  readonly chunkedRules: ChunkedRules;
  /** Called when `wantsBytes` of the body may have become true. */
  bodyWanted(): void;
};

/**
 * The body of one request, decoded from the bytes of its connection. Until `start` and while the sink is paused, bytes
 * are held here, up to a limit at which the connection is no longer read.
 */
export class IncomingBody implements RequestBody {
  readonly length: number | undefined;
  started = false;
  /** True once the last byte has been read from the connection; it may still wait for the sink. */
  received: boolean;
  /** True if the chunked coding is malformed, so that nothing more can be read from the connection. */
  broken = false;
  private readonly source: BodySource;
  private remaining: number;
  private readonly decoder: ChunkedDecoder | undefined;
  private sink: BodySink | undefined = undefined;
  private failure: BodyAbortReason | undefined = undefined;
  private isPaused = false;
  private deadlineMs = Number.POSITIVE_INFINITY;
  private held: HeldBytes | undefined = undefined;
  /** The bytes that arrived with the head, in borrowed memory that is valid until `keepLent`. */
  private lent: Buffer | undefined = undefined;
  private isLending = false;

  constructor(framing: RequestFraming, source: BodySource) {
    this.source = source;
    this.length = framing === "chunked" ? undefined : framing;
    this.remaining = this.length ?? 0;
    this.received = framing === 0;
    this.decoder = framing === "chunked" ? new ChunkedDecoder(source.chunkedRules) : undefined;
  }

  /** Whether more bytes of the connection are accepted. */
  get wantsBytes(): boolean {
    return this.failure !== undefined || this.held === undefined || this.held.length < maxHeldBytes;
  }

  /** True if bytes of the client were awaited for the body timeout and none arrived. */
  get stalled(): boolean {
    return (
      this.source.clock.nowMs >= this.deadlineMs &&
      this.sink !== undefined &&
      !this.isPaused &&
      !this.received
    );
  }

  /** Reads the part of a piece from index `at` that belongs to the body; returns the index after it. */
  take(piece: Piece, at: number): number {
    const { decoder } = this;
    const end = piece.bytes.length;
    if (decoder === undefined) {
      const to = Math.min(end, at + this.remaining);
      this.remaining -= to - at;
      this.received = this.remaining === 0;
      this.pass(piece, at, to);
      if (this.received) this.finish();
      return to;
    }
    const size = decoder.decode(piece.bytes, at);
    if (decoder.invalid) {
      this.broken = true;
      return end;
    }
    this.received = decoder.done;
    this.pass(piece, at, at + size);
    if (this.received) this.finish();
    return decoder.done ? decoder.endIndex : end;
  }

  /** Like `take`, for bytes that arrived with the head; `keepLent` must be called before their memory is reused. */
  takeWithHead(piece: Piece, at: number): number {
    this.isLending = !piece.owned;
    const next = this.take(piece, at);
    this.isLending = false;
    return next;
  }

  /** Copies the bytes that arrived with the head, unless they have been passed on. */
  keepLent(): void {
    const { lent } = this;
    if (lent === undefined) return;
    this.lent = undefined;
    this.held = new HeldBytes();
    this.held.add({ owned: false, bytes: lent }, 0);
  }

  start(sink: BodySink): void {
    if (this.started) throw new Error("a request body is read once");
    this.started = true;
    if (this.failure !== undefined) return sink.onAbort(this.failure);
    this.sink = sink;
    this.readOn();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.readOn();
  }

  /** Aborts the body; the sink is notified now, or when the body is started. */
  abort(reason: BodyAbortReason): void {
    if (this.failure !== undefined) return;
    this.failure = reason;
    this.lent = undefined;
    this.held = undefined;
    const { sink } = this;
    this.sink = undefined;
    sink?.onAbort(reason);
  }

  /** Discards the rest of the body as it is read, so that the next request can be read. */
  discard(): void {
    this.sink = undefined;
    this.lent = undefined;
    this.held = undefined;
    this.failure ??= "client-closed";
  }

  /** Passes on the held bytes, and lets the connection read again once none are left. */
  private readOn(): void {
    const { held, lent } = this;
    this.held = undefined;
    this.lent = undefined;
    this.waitForClient();
    if (lent !== undefined) this.deliver(this.passable(lent, 0, lent.length));
    else if (held !== undefined) this.deliver(held.bytes);
    if (this.received) this.finish();
    else if (!this.isPaused) this.source.bodyWanted();
  }

  private pass(piece: Piece, from: number, to: number): void {
    if (from === to || this.failure !== undefined) return;
    if (this.isLending) {
      this.lent = lend(piece.bytes, from, to);
      return;
    }
    if (this.sink === undefined || this.isPaused) {
      this.held ??= new HeldBytes();
      this.held.add(piece, from, to);
      return;
    }
    const { owned, bytes } = piece;
    this.waitForClient();
    if (!owned) this.deliver(this.passable(bytes, from, to));
    else this.deliver(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to));
  }

  /** Returns bytes of borrowed memory as a view if the sink accepts views, otherwise as a copy. */
  private passable(bytes: BorrowedBytes, from: number, to: number): Buffer {
    return this.sink?.takesViews === true ? lend(bytes, from, to) : copyOf(bytes, from, to);
  }

  private deliver(bytes: Buffer): void {
    if (this.sink?.onData(bytes) === false && this.failure === undefined) this.isPaused = true;
  }

  /** Restarts the body timeout. */
  private waitForClient(): void {
    const { clock, bodyTimeoutMs } = this.source;
    this.deadlineMs = clock.deadline(bodyTimeoutMs);
  }

  private finish(): void {
    const { sink } = this;
    if (sink === undefined || this.isPaused || this.held !== undefined || this.lent !== undefined) return;
    this.sink = undefined;
    sink.onEnd(this.trailers);
  }

  private get trailers(): HeaderList | undefined {
    return this.decoder?.trailers;
  }
}
