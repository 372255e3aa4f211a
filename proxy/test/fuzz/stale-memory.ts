import type { OnReadOpts } from "node:net";
import { ReadBuffer } from "../../src/sockets/read-buffer.ts";

/**
 * The content of memory into which these tests have read nothing. Every few bytes it has the end of a head, fields, and
 * the end of a chunked body, so that a reader that goes beyond the bytes that were read takes it for a message.
 */
export const stale = "\r\n\r\nX-Stale: stale\r\n0\r\n\r\n";

/** True for text that has seen such memory. */
export const isTainted = (text: string): boolean => /stale/i.test(text);

/**
 * Fills the memory of every read immediately before it, and all memory that is allocated without being cleared, until
 * the returned function is called. This exposes readers that use bytes beyond those that were read, or keep views of
 * memory that is read into again.
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
