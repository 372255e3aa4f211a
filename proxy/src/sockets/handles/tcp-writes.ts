import { copyOf } from "../copy-of.ts";
import { isLent } from "../read-buffer.ts";
import type { HandleWrites, WritesOwner } from "./handle-writes.ts";
import type { HandleInternals, StreamHandle, WriteRequest } from "./internals.ts";
import { joinWrite, keepWrite } from "./joined-writes.ts";

/** Writes to a TCP handle. The kernel accepts them immediately or later, in order. */
export class TcpWrites implements HandleWrites {
  readonly holdsBack = false;
  waitingBytes = 0;
  private readonly handle: StreamHandle;
  private readonly internals: HandleInternals;
  private readonly owner: WritesOwner;
  /** The number of writes that the kernel has not accepted completely; `waitingBytes` counts all their bytes. */
  private waitingWrites = 0;

  constructor(handle: StreamHandle, internals: HandleInternals, owner: WritesOwner) {
    this.handle = handle;
    this.internals = internals;
    this.owner = owner;
  }

  get isBusy(): boolean {
    return this.waitingWrites > 0;
  }

  writeText(text: string): void {
    const request = this.takeRequest();
    this.sent(request, this.handle.writeLatin1String(request, text), text.length, undefined);
  }

  writeBytes(before: string, bytes: Buffer, after: string): void {
    const { handle } = this;
    const request = this.takeRequest();
    const lent = isLent(bytes);
    // Behind a waiting write, this one has to wait as well, in memory of its exact size.
    const joined = lent && this.waitingWrites === 0 ? joinWrite(before, bytes, after) : undefined;
    if (joined !== undefined) {
      const error = handle.writeBuffer(request, joined);
      const size = error === 0 && this.isAsync ? keepWrite(joined) : joined.length;
      return this.sent(request, error, size, joined);
    }
    const own = lent ? copyOf(bytes, 0, bytes.length) : bytes;
    if (before === "" && after === "") {
      return this.sent(request, handle.writeBuffer(request, own), own.length, own);
    }
    const chunks: (string | Buffer)[] = [];
    if (before !== "") chunks.push(before, "latin1");
    chunks.push(own, "buffer");
    if (after !== "") chunks.push(after, "latin1");
    const size = before.length + own.length + after.length;
    this.sent(request, handle.writev(request, chunks, false), size, own);
  }

  lendBytes(bytes: Buffer, done: () => void): void {
    this.writeBytes("", bytes, "");
    if (this.waitingWrites === 0) done();
  }

  /** Whether the kernel has not accepted all of the last write. */
  private get isAsync(): boolean {
    return this.internals.state[this.internals.isAsyncAt] !== 0;
  }

  private takeRequest(): WriteRequest {
    const { internals } = this;
    const { spare } = internals;
    if (spare === undefined) return internals.createWrite();
    internals.spare = undefined;
    return spare;
  }

  private sent(request: WriteRequest, error: number, size: number, bytes: Buffer | undefined): void {
    if (error !== 0) return this.owner.onWriteFailed(error);
    if (!this.isAsync) {
      // The runtime has kept no reference to the request.
      this.internals.spare = request;
      return;
    }
    this.waitingWrites++;
    this.waitingBytes += size;
    request.kept = bytes;
    request.oncomplete = (status) => {
      request.kept = undefined;
      this.waitingWrites--;
      this.waitingBytes -= size;
      if (status !== 0) return this.owner.onWriteFailed(status);
      if (this.waitingWrites === 0) this.owner.onWritten();
    };
  }
}
