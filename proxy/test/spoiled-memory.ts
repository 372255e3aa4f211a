import { isLent, ReadBuffer } from "../src/sockets/read-buffer.ts";

const spoiled = 0xdb;

/**
 * Overwrites what each read has left in the memory that connections share as soon as its receiver has returned, for the rest of the
 * run. A receiver that keeps a view of it, instead of a copy, has the wrong bytes in every test then, and not only where another
 * connection reads in between.
 */
export function spoilReadMemory(): void {
  const { pieceOf } = ReadBuffer.prototype;
  const spoil = (bytes: Buffer): void => void bytes.fill(spoiled);
  ReadBuffer.prototype.pieceOf = function (memory, length) {
    // The first thing that runs after the callback of the read.
    if (isLent(memory)) process.nextTick(spoil, memory.subarray(0, length));
    return pieceOf.call(this, memory, length);
  };
}
