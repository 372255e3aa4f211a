import type { OnReadOpts } from "node:net";
import { ReadBuffer } from "../../src/sockets/read-buffer.ts";

/**
 * What memory holds in these tests where nothing was read into it: the end of a head, fields, and the end of a chunked body at
 * every few bytes, so that a reader that goes beyond what was read takes it for a message.
 */
export const stale = "\r\n\r\nX-Stale: stale\r\n0\r\n\r\n";

/** True for text that has seen such memory. */
export const isTainted = (text: string): boolean => /stale/i.test(text);

/**
 * Fills the memory of every read right before it, and all memory that is allocated without being cleared, until the
 * function that it answers is called: what earlier reads have left, and what is read into too early, shows.
 */
export function staleMemory(): () => void {
  const { allocUnsafe, allocUnsafeSlow } = Buffer;
  const { onread } = ReadBuffer.prototype;
  ReadBuffer.prototype.onread = function (receive) {
    const { buffer, callback } = onread.call(this, receive);
    return { buffer: () => memoryOf(buffer).fill(stale), callback };
  };
  Buffer.allocUnsafe = (size) => allocUnsafe(size).fill(stale);
  Buffer.allocUnsafeSlow = (size) => allocUnsafeSlow(size).fill(stale);
  return () => {
    ReadBuffer.prototype.onread = onread;
    Object.assign(Buffer, { allocUnsafe, allocUnsafeSlow });
  };
}

/** The memory that a socket would read into next. */
export const memoryOf = (buffer: OnReadOpts["buffer"]): Buffer =>
  (typeof buffer === "function" ? buffer() : buffer) as Buffer;
