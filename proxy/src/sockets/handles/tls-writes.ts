import { copyOf } from "../copy-of.ts";
import { isLent } from "../read-buffer.ts";
import type { HandleWrites, WritesOwner } from "./handle-writes.ts";
import type { HandleInternals, TlsHandle } from "./internals.ts";

/**
 * The most bytes of one write: enough for a slab of HTTP/2 frames, or for a piece of the size of a read with its head.
 * The runtime keeps memory for the largest write of a connection while the connection is open.
 */
const maxWriteBytes = 98_304;

/** The memory in which writes are joined. It is free again once they have been encrypted, before the call returns. */
const joined = Buffer.allocUnsafeSlow(maxWriteBytes);

/**
 * Writes to a TLS handle. The handle accepts one write at a time, and a second one would end the process. It encrypts
 * the bytes into its own memory before the call returns, so that it does not refer to the caller's memory afterwards.
 * It reports a write in the next turn at the earliest, even if the kernel accepted it immediately. Data that is written
 * meanwhile waits here, and is sent in one write.
 */
export class TlsWrites implements HandleWrites {
  private readonly handle: TlsHandle;
  private readonly internals: HandleInternals;
  private readonly owner: WritesOwner;
  private isWriting = false;
  /** The number of bytes of the write under way; 0 if the kernel has accepted all of them. */
  private sentBytes = 0;
  private readonly queue: (string | Buffer)[] = [];
  private queuedBytes = 0;

  constructor(handle: TlsHandle, internals: HandleInternals, owner: WritesOwner) {
    this.handle = handle;
    this.internals = internals;
    this.owner = owner;
  }

  get waitingBytes(): number {
    return this.sentBytes + this.queuedBytes;
  }

  get isBusy(): boolean {
    return this.isWriting;
  }

  get holdsBack(): boolean {
    return this.isWriting;
  }

  writeText(text: string): void {
    if (this.isWriting || text.length > maxWriteBytes) {
      this.put(text);
      this.sendNext();
    } else if (text !== "") {
      this.send(joined.subarray(0, joined.write(text, "latin1")));
    }
  }

  writeBytes(before: string, bytes: Buffer, after: string): void {
    const length = before.length + bytes.length + after.length;
    if (this.isWriting || length > maxWriteBytes) {
      this.put(before);
      this.put(isLent(bytes) ? copyOf(bytes, 0, bytes.length) : bytes);
      this.put(after);
      this.sendNext();
    } else if (length === bytes.length) {
      if (length > 0) this.send(bytes);
    } else {
      joined.write(before, "latin1");
      joined.set(bytes, before.length);
      joined.write(after, before.length + bytes.length, "latin1");
      this.send(joined.subarray(0, length));
    }
  }

  lendBytes(bytes: Buffer, done: () => void): void {
    const mayWait = this.isWriting || bytes.length > maxWriteBytes;
    this.writeBytes("", mayWait ? copyOf(bytes, 0, bytes.length) : bytes, "");
    done();
  }

  private put(chunk: string | Buffer): void {
    if (chunk.length === 0) return;
    this.queuedBytes += chunk.length;
    const isLong = typeof chunk === "string" && chunk.length > maxWriteBytes;
    this.queue.push(isLong ? Buffer.from(chunk, "latin1") : chunk);
  }

  /** Writes as much of the waiting data as fits into one write. */
  private sendNext(): void {
    const { queue } = this;
    const [first] = queue;
    if (this.isWriting || first === undefined) return;
    if (typeof first !== "string" && first.length > maxWriteBytes) {
      queue[0] = first.subarray(maxWriteBytes);
      return this.sendQueued(first.subarray(0, maxWriteBytes));
    }
    let length = 0;
    let count = 0;
    for (const chunk of queue) {
      if (length + chunk.length > maxWriteBytes) break;
      if (typeof chunk === "string") joined.write(chunk, length, "latin1");
      else joined.set(chunk, length);
      length += chunk.length;
      count++;
    }
    queue.splice(0, count);
    this.sendQueued(joined.subarray(0, length));
  }

  private sendQueued(bytes: Buffer): void {
    this.queuedBytes -= bytes.length;
    this.send(bytes);
  }

  private send(bytes: Buffer): void {
    const { handle } = this;
    const { _parent: tcp } = handle;
    const { bytesWritten } = tcp;
    const request = this.internals.createWrite();
    request.oncomplete = this.onComplete;
    this.isWriting = true;
    this.sentBytes = bytes.length;
    const error = handle.writeBuffer(request, bytes);
    if (error !== 0) return this.onComplete(error);
    // Other records, such as the reply to a key update of the peer, might have to be sent first.
    const hasLeft = tcp.writeQueueSize === 0 && tcp.bytesWritten - bytesWritten >= bytes.length;
    if (hasLeft) this.sentBytes = 0;
  }

  /** Called by the runtime, and within `send` if the connection has failed. */
  private readonly onComplete = (status: number): void => {
    this.isWriting = false;
    this.sentBytes = 0;
    if (status !== 0) return this.owner.onWriteFailed(status);
    this.sendNext();
    if (!this.isWriting) this.owner.onWritten();
  };
}
