/**
 * A ring of log lines in shared memory: one worker writes, the supervisor takes (docs/adr/0029-log-ring.md).
 *
 * Lines are never divided: where the next one does not fit before the end of the memory, writing goes on at its
 * beginning, and `edge` says where the lines before it end. So what is waiting is one run of whole lines, or two: from
 * `taken` to `edge`, and from the beginning to `written`. Nothing is locked. A line counts once `written` is stored
 * behind it, so a worker that ends at any instruction loses the line that it was writing, and no other.
 */

/** The cells of the header, those of either side in a cache line of their own. */
const writtenAt = 0;
const edgeAt = 1;
const takenAt = 16;
const askedAt = 32;
const headerBytes = 48 * Int32Array.BYTES_PER_ELEMENT;

/** What the worker has asked the supervisor for since it last took lines. */
const asked = { nothing: 0, soon: 1, now: 2 } as const;

/** Lines of one worker that may wait for the supervisor. The system provides what has been used at least once. */
const ringBytes = 4 * 1024 * 1024;

/** Creates the memory of one ring; by default with the room that a worker gets. */
export const createLogRing = (bytes = ringBytes): SharedArrayBuffer =>
  new SharedArrayBuffer(headerBytes + bytes);

/** How soon the supervisor is to take lines: with others that come soon, or at once because many wait. */
export type LogWake = "soon" | "now";

/** The side of the worker. */
export class LogRingWriter {
  private readonly cells: Int32Array;
  private readonly lines: Buffer;
  private readonly wake: (when: LogWake) => void;
  /** Bytes that may be written after a wake before the supervisor is to take them at once. */
  private readonly manyBytes: number;
  private bytesSinceWake = 0;
  /** Where the next line begins. */
  private written: number;

  /** Goes on behind the lines of the worker before. `wake` reaches the supervisor from any state of either thread. */
  constructor(memory: SharedArrayBuffer, wake: (when: LogWake) => void) {
    this.cells = new Int32Array(memory, 0, headerBytes / Int32Array.BYTES_PER_ELEMENT);
    this.lines = Buffer.from(memory, headerBytes);
    this.wake = wake;
    this.manyBytes = this.lines.length / 4;
    this.written = Atomics.load(this.cells, writtenAt);
  }

  /** Appends one or more whole lines; false when there is no room for all of them. */
  write(lines: string): boolean {
    // A UTF-16 unit takes at most three bytes: lines are counted only where that matters.
    const at = this.fitsBehind(lines.length * 3) ? this.written : this.placeFor(Buffer.byteLength(lines));
    if (at === undefined) return false;
    this.publish(at, this.lines.write(lines, at));
    return true;
  }

  /** Appends a record of any bytes, in a ring of nothing else; false when there is no room for it. */
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

  /** Whether more than half of the room is taken. */
  isCongested(): boolean {
    const taken = Atomics.load(this.cells, takenAt);
    const { written, lines } = this;
    const waiting = written >= taken ? written - taken : Atomics.load(this.cells, edgeAt) - taken + written;
    return waiting > lines.length / 2;
  }

  /**
   * Whether so many bytes can be written behind the last line. Where the writer and the reader meet, nothing is waiting:
   * so the writer never quite catches up with the reader from behind.
   */
  private fitsBehind(bytes: number): boolean {
    const { written } = this;
    const taken = Atomics.load(this.cells, takenAt);
    return written < taken ? written + bytes < taken : written + bytes <= this.lines.length;
  }

  /** Where so many bytes can be written: behind the last line, or at the beginning. */
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

/** The side of the supervisor. */
export class LogRingReader {
  private readonly cells: Int32Array;
  private readonly lines: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory, 0, headerBytes / Int32Array.BYTES_PER_ELEMENT);
    this.lines = Buffer.from(memory, headerBytes);
  }

  /**
   * Takes all lines that are waiting, in pieces of whole lines of at most `pieceBytes`, or of one line. A piece is a view
   * of the ring for the time of the call. Of records that are no lines, pieces are without limit (`Infinity`). Lines that are written from now on wake the supervisor again.
   */
  take(onPiece: (lines: Buffer) => void, pieceBytes: number): void {
    const { cells } = this;
    // Before the lines are looked for: either they are seen here, or their writer sees this.
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

  /** The end of the last line that ends by `end`, or else of the first line. */
  private lineEnd(begin: number, end: number, last: number): number {
    const before = this.lines.subarray(begin, end).lastIndexOf(lineFeed);
    if (before !== -1) return begin + before + 1;
    const after = this.lines.subarray(end, last).indexOf(lineFeed);
    return after === -1 ? last : end + after + 1;
  }
}

const lineFeed = 0x0a;
