/**
 * A ring of log lines in shared memory: one worker writes, the supervisor reads (docs/adr/0029-log-ring.md).
 *
 * Lines are never split. If the next one does not fit before the end of the memory, writing continues at the start, and
 * `edge` holds the end of the lines before it. The unread lines are therefore one run of whole lines, or two: from
 * `taken` to `edge`, and from the start to `written`. There are no locks. A line counts once its end is stored in
 * `written`, so a worker that ends at any instruction loses only the line that it was writing.
 */

/** The cells of the header. Those of the writer and those of the reader are in separate cache lines. */
const writtenAt = 0;
const edgeAt = 1;
const takenAt = 16;
const askedAt = 32;
const headerBytes = 48 * Int32Array.BYTES_PER_ELEMENT;

/** The kind of wake-up that the worker has sent since the supervisor last read lines. */
const asked = { nothing: 0, soon: 1, now: 2 } as const;

/** The memory for unread lines of one worker. The system allocates only the pages that have been used. */
const ringBytes = 4 * 1024 * 1024;

/** Creates the memory of one ring, by default of the size for a worker. */
export const createLogRing = (bytes = ringBytes): SharedArrayBuffer =>
  new SharedArrayBuffer(headerBytes + bytes);

/** When the supervisor must read lines: soon, together with the next ones, or immediately, because many wait. */
export type LogWake = "soon" | "now";

/** The writing side of a ring, used by the worker. */
export class LogRingWriter {
  private readonly cells: Int32Array;
  private readonly lines: Buffer;
  private readonly wake: (when: LogWake) => void;
  /** The number of bytes written since a `soon` wake after which the supervisor must read immediately. */
  private readonly manyBytes: number;
  private bytesSinceWake = 0;
  /** The position at which the next line begins. */
  private written: number;

  /** Continues after the previous worker's lines. `wake` must reach the supervisor in any state of either thread. */
  constructor(memory: SharedArrayBuffer, wake: (when: LogWake) => void) {
    this.cells = new Int32Array(memory, 0, headerBytes / Int32Array.BYTES_PER_ELEMENT);
    this.lines = Buffer.from(memory, headerBytes);
    this.wake = wake;
    this.manyBytes = this.lines.length / 4;
    this.written = Atomics.load(this.cells, writtenAt);
  }

  /** Appends one or more whole lines. Returns false if there is no room for all of them. */
  write(lines: string): boolean {
    // A UTF-16 unit takes at most three bytes: the exact length is computed only if that estimate does not fit.
    const at = this.fitsBehind(lines.length * 3) ? this.written : this.placeFor(Buffer.byteLength(lines));
    if (at === undefined) return false;
    this.publish(at, this.lines.write(lines, at));
    return true;
  }

  /** Appends a binary record, to a ring without lines. Returns false if there is no room for it. */
  append(record: Uint8Array): boolean {
    const at = this.placeFor(record.length);
    if (at === undefined) return false;
    this.lines.set(record, at);
    this.publish(at, record.length);
    return true;
  }

  private publish(at: number, bytes: number): void {
    const { cells } = this;
    if (at !== this.written) Atomics.store(cells, edgeAt, this.written);
    this.written = at + bytes;
    Atomics.store(cells, writtenAt, this.written);
    this.bytesSinceWake += bytes;
    if (Atomics.load(cells, askedAt) === asked.nothing) this.ask("soon");
    else if (this.bytesSinceWake > this.manyBytes && Atomics.load(cells, askedAt) === asked.soon) {
      this.ask("now");
    }
  }

  /** Whether more than half of the memory holds unread lines. */
  isCongested(): boolean {
    const taken = Atomics.load(this.cells, takenAt);
    const { written, lines } = this;
    const waiting = written >= taken ? written - taken : Atomics.load(this.cells, edgeAt) - taken + written;
    return waiting > lines.length / 2;
  }

  /**
   * Whether this many bytes fit after the last line. Equal positions of writer and reader mean an empty ring, so the
   * writer must never fully catch up with the reader from behind.
   */
  private fitsBehind(bytes: number): boolean {
    const { written } = this;
    const taken = Atomics.load(this.cells, takenAt);
    return written < taken ? written + bytes < taken : written + bytes <= this.lines.length;
  }

  /** The position at which this many bytes fit: after the last line or at the start; undefined if neither. */
  private placeFor(bytes: number): number | undefined {
    const { written } = this;
    if (this.fitsBehind(bytes)) return written;
    const taken = Atomics.load(this.cells, takenAt);
    return written >= taken && bytes < taken ? 0 : undefined;
  }

  private ask(when: LogWake): void {
    this.bytesSinceWake = 0;
    Atomics.store(this.cells, askedAt, asked[when]);
    this.wake(when);
  }
}

/** The reading side of a ring, used by the supervisor. */
export class LogRingReader {
  private readonly cells: Int32Array;
  private readonly lines: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory, 0, headerBytes / Int32Array.BYTES_PER_ELEMENT);
    this.lines = Buffer.from(memory, headerBytes);
  }

  /**
   * Reads all waiting lines, in pieces of whole lines of at most `pieceBytes` or of a single longer line. A piece is a
   * view of the ring that is valid only during the call of `onPiece`. For binary records, `pieceBytes` must be
   * `Infinity`. Lines that are written from now on wake the supervisor again.
   */
  take(onPiece: (lines: Buffer) => void, pieceBytes: number): void {
    const { cells } = this;
    // Must precede the read of `written`: a concurrent line is either read here, or its writer sends a new wake.
    Atomics.store(cells, askedAt, asked.nothing);
    const written = Atomics.load(cells, writtenAt);
    let taken = Atomics.load(cells, takenAt);
    if (written < taken) {
      this.divide(taken, Atomics.load(cells, edgeAt), onPiece, pieceBytes);
      taken = 0;
    }
    this.divide(taken, written, onPiece, pieceBytes);
    Atomics.store(cells, takenAt, written);
  }

  private divide(from: number, to: number, onPiece: (lines: Buffer) => void, pieceBytes: number): void {
    for (let at = from; at < to;) {
      const end = to - at > pieceBytes ? this.lineEnd(at, at + pieceBytes, to) : to;
      onPiece(this.lines.subarray(at, end));
      at = end;
    }
  }

  /** The end of the last line that ends at or before `end`; if there is none, the end of the first line. */
  private lineEnd(begin: number, end: number, last: number): number {
    const before = this.lines.subarray(begin, end).lastIndexOf(lineFeed);
    if (before !== -1) return begin + before + 1;
    const after = this.lines.subarray(end, last).indexOf(lineFeed);
    return after === -1 ? last : end + after + 1;
  }
}

const lineFeed = 0x0a;
