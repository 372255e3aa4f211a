import type { FrontClock } from "../clock.ts";
import type { BodyAbortReason, BodySink, HeaderList, RequestBody } from "../../../message/message.ts";
import { ChunkedDecoder, type ChunkedRules } from "../../../http1/chunked-decoder.ts";
import { copyOf } from "../../../sockets/copy-of.ts";
import { type BorrowedBytes, lend, type Piece } from "../../../sockets/read-buffer.ts";
import { HeldBytes } from "./held-bytes.ts";
import type { RequestFraming } from "./request-semantics.ts";

/** Once this much of a body is held nothing more is read. */
const maxHeldBytes = 65_536;

/** The connection that a body arrives on. */
export type BodySource = {
  readonly clock: FrontClock;
  readonly bodyTimeoutMs: number;
  readonly chunkedRules: ChunkedRules;
  /** More may be wanted of the body than before. */
  bodyWanted(): void;
};

/**
 * The body of one request, out of what its connection reads. Until `start`, and while the sink is paused, what arrives is
 * held here, and at its bound the connection is not read any more.
 */
export class IncomingBody implements RequestBody {
  readonly length: number | undefined;
  started = false;
  /** The last byte has been read from the connection; it may still wait for the sink. */
  received: boolean;
  /** The chunked coding does not make sense: nothing more can be read from the connection. */
  broken = false;
  private readonly source: BodySource;
  private remaining: number;
  private readonly decoder: ChunkedDecoder | undefined;
  private sink: BodySink | undefined = undefined;
  private failure: BodyAbortReason | undefined = undefined;
  private isPaused = false;
  private deadlineMs = Number.POSITIVE_INFINITY;
  private held: HeldBytes | undefined = undefined;
  /** What came with the head, where it was read: memory that is borrowed until `keepLent`. */
  private lent: Buffer | undefined = undefined;
  private isLending = false;

  constructor(framing: RequestFraming, source: BodySource) {
    this.source = source;
    this.length = framing === "chunked" ? undefined : framing;
    this.remaining = this.length ?? 0;
    this.received = framing === 0;
    this.decoder = framing === "chunked" ? new ChunkedDecoder(source.chunkedRules) : undefined;
  }

  /** Whether the connection is to be read for this body. */
  get wantsBytes(): boolean {
    return this.failure !== undefined || this.held === undefined || this.held.length < maxHeldBytes;
  }

  /** True when the client has sent nothing for the body timeout although it was its turn. */
  get stalled(): boolean {
    return (
      this.source.clock.nowMs >= this.deadlineMs &&
      this.sink !== undefined &&
      !this.isPaused &&
      !this.received
    );
  }

  /** Takes what belongs to the body from index `at` of a piece on; answers where that ends. */
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

  /** The same for what came with the head: `keepLent` is to be called before the memory of the piece is written over. */
  takeWithHead(piece: Piece, at: number): number {
    this.isLending = !piece.owned;
    const next = this.take(piece, at);
    this.isLending = false;
    return next;
  }

  /** Copies what came with the head, unless that has been passed on. */
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

  /** Ends the body before its end; the sink hears it now, or when it comes. */
  abort(reason: BodyAbortReason): void {
    if (this.failure !== undefined) return;
    this.failure = reason;
    this.lent = undefined;
    this.held = undefined;
    const { sink } = this;
    this.sink = undefined;
    sink?.onAbort(reason);
  }

  /** Reads the unwanted rest of the body and discards it, so that the connection gets past it. */
  discard(): void {
    this.sink = undefined;
    this.lent = undefined;
    this.held = undefined;
    this.failure ??= "client-closed";
  }

  /** Passes on what is held, and has the connection read on once nothing is left of it. */
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

  /** Bytes of borrowed memory in a form that the sink may have. */
  private passable(bytes: BorrowedBytes, from: number, to: number): Buffer {
    return this.sink?.takesViews === true ? lend(bytes, from, to) : copyOf(bytes, from, to);
  }

  private deliver(bytes: Buffer): void {
    if (this.sink?.onData(bytes) === false && this.failure === undefined) this.isPaused = true;
  }

  /** From now on it is the client's turn. */
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
