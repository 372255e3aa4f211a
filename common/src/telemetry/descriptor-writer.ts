import fs from "node:fs";

/** Bytes that wait to be written, and the callback for when the system has accepted them. */
type Waiting = { readonly bytes: Uint8Array; readonly onWritten: (() => void) | undefined };

/** The delay before a descriptor without room is tried again, in milliseconds. */
const retryMs = 100;

/** The size up to which waiting bytes are joined; larger pieces are written without a copy. */
const joinedBytes = 64 * 1024;

const nothing = Buffer.alloc(0);

/**
 * Writes to a file descriptor, in order and one write at a time, without blocking: a write is a task of the thread
 * pool, and a descriptor without room (`EAGAIN`) is tried again later. Bytes are not copied, except small pieces, into
 * memory that is reused: with a buffer for every write, even an otherwise idle process would have to collect garbage
 * (docs/adr/0022-bunyan.md). The queue has no limit.
 */
export class DescriptorWriter {
  /** The number of bytes that the system has not accepted yet. */
  waitingBytes = 0;
  private readonly fd: number;
  /** Whether to try again while there is no room for the waiting bytes. */
  private readonly mayWait: (waitingBytes: number) => boolean;
  private queue: Waiting[] = [];
  /** The number of bytes of the first queue entry that have been written. */
  private doneOfFirst = 0;
  /** The remaining bytes of the write in progress, from the first `flying` entries of the queue. */
  private rest: Uint8Array = nothing;
  private flying = 0;
  private joined: Buffer | undefined = undefined;
  private isWriting = false;
  private retryTimer: NodeJS.Timeout | undefined = undefined;
  private whenSettled: (() => void)[] = [];

  constructor(fd: number, mayWait: (waitingBytes: number) => boolean) {
    this.fd = fd;
    this.mayWait = mayWait;
  }

  /**
   * Queues bytes, which must not change until `onWritten` is called. After an error, a call also retries the waiting
   * bytes.
   */
  write(bytes: Uint8Array, onWritten?: () => void): void {
    this.waitingBytes += bytes.length;
    this.queue.push({ bytes, onWritten });
    this.tryAgain();
  }

  /** Writes the waiting bytes, unless a write or a retry is in progress. */
  tryAgain(): void {
    if (!this.isWriting && this.retryTimer === undefined) this.next();
  }

  /** Calls back once, when no bytes wait or a write has failed. */
  settled(call: () => void): void {
    this.whenSettled.push(call);
    this.tryAgain();
  }

  /**
   * Writes the waiting bytes and blocks, except for those that a thread is writing at this moment, which can arrive
   * later. Throws the error of the system; bytes that have not been written then still wait.
   */
  writeSync(): void {
    const { isWriting, doneOfFirst } = this;
    const flying = this.queue.splice(0, isWriting ? this.flying : 0);
    if (isWriting) this.doneOfFirst = 0;
    else this.stopRetrying();
    this.flying = 0;
    try {
      for (let first = this.queue[0]; first !== undefined; first = this.queue[0]) {
        this.advance(this.putSync(first.bytes.subarray(this.doneOfFirst)));
      }
    } finally {
      if (isWriting) this.putBack(flying, doneOfFirst);
    }
  }

  /** Discards and returns the waiting entries, including one that is partly written. */
  clear(): readonly Uint8Array[] {
    const left = this.queue.map(({ bytes }) => bytes);
    this.stopRetrying();
    this.queue = [];
    this.waitingBytes = 0;
    this.doneOfFirst = 0;
    this.flying = 0;
    return left;
  }

  private next(): void {
    if (this.rest.length === 0) this.rest = this.gather();
    if (this.rest.length === 0) return this.settle();
    this.isWriting = true;
    fs.write(this.fd, this.rest, this.onDone);
  }

  /** The next bytes to write: one piece, or several that are small. */
  private gather(): Uint8Array {
    const { queue } = this;
    const [first, second] = queue;
    this.flying = 1;
    if (first === undefined) return nothing;
    const begin = this.doneOfFirst;
    if (second === undefined || first.bytes.length - begin + second.bytes.length > joinedBytes)
      return first.bytes.subarray(begin);
    const joined = (this.joined ??= Buffer.allocUnsafeSlow(joinedBytes));
    let end = 0;
    this.flying = 0;
    for (const { bytes } of queue) {
      const piece = end === 0 && begin > 0 ? bytes.subarray(begin) : bytes;
      if (end + piece.length > joinedBytes) break;
      joined.set(piece, end);
      end += piece.length;
      this.flying++;
    }
    return joined.subarray(0, end);
  }

  private readonly onDone = (error: NodeJS.ErrnoException | null, count: number): void => {
    this.isWriting = false;
    // Entries that were cleared in the meantime are ignored.
    if (this.flying === 0) this.rest = nothing;
    else if (error === null) {
      this.rest = this.rest.subarray(count);
      this.advance(count);
    } else if (isFull(error) && this.mayWait(this.waitingBytes)) {
      this.retryTimer = setTimeout(this.onRetry, retryMs);
      return;
    } else return this.settle();
    this.next();
  };

  private readonly onRetry = (): void => {
    this.retryTimer = undefined;
    this.next();
  };

  private stopRetrying(): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    if (!this.isWriting) this.rest = nothing;
  }

  /** Removes bytes that the system has accepted from the queue. */
  private advance(count: number): void {
    this.waitingBytes -= count;
    let left = this.doneOfFirst + count;
    for (
      let first = this.queue[0];
      first !== undefined && first.bytes.length <= left;
      first = this.queue[0]
    ) {
      left -= first.bytes.length;
      this.queue.shift();
      if (this.flying > 0) this.flying--;
      first.onWritten?.();
    }
    this.doneOfFirst = left;
  }

  /** Writes a part of the bytes, after waiting for room if necessary; returns the number of bytes written. */
  private putSync(bytes: Uint8Array): number {
    for (;;) {
      try {
        return fs.writeSync(this.fd, bytes);
      } catch (error) {
        if (!isFull(error as NodeJS.ErrnoException) || !this.mayWait(this.waitingBytes)) throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }

  /** Returns the entries that a thread is writing to the front of the queue. */
  private putBack(flying: readonly Waiting[], doneOfFirst: number): void {
    const [first] = this.queue;
    if (first !== undefined && this.doneOfFirst > 0)
      this.queue[0] = { ...first, bytes: first.bytes.subarray(this.doneOfFirst) };
    this.queue.unshift(...flying);
    this.flying = flying.length;
    this.doneOfFirst = doneOfFirst;
  }

  private settle(): void {
    const calls = this.whenSettled;
    this.whenSettled = [];
    for (const call of calls) call();
  }
}

const isFull = ({ code }: NodeJS.ErrnoException): boolean => code === "EAGAIN" || code === "EBUSY";
