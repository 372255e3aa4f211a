import { isLent, ReadBuffer } from "../src/sockets/read-buffer.ts";

const spoiled = 0xdb;
const spoil = (bytes: Buffer): void => void bytes.fill(spoiled);

/** The memory that a connection has for itself, or that which all share. */
const memoryOf = (source: ReadBuffer): Buffer => (source as unknown as { slab: Buffer }).slab;

/**
 * Overwrites what reads have left as soon as their memory may be used again, for the rest of the run: in the memory that connections
 * share when the receiver of a read has returned, in memory of their own when nothing of it is held. What keeps a view of it,
 * instead of a copy, then has the wrong bytes in every test, and not only where another read comes in between.
 */
export function spoilReadMemory(): void {
  const { pieceOf, settle, reset } = ReadBuffer.prototype;
  const free = (source: ReadBuffer, heldBytes: number | undefined): void => {
    if (heldBytes === 0 && source.isPrivate) spoil(memoryOf(source));
  };
  ReadBuffer.prototype.pieceOf = function (memory, length) {
    // The first thing that runs after the callback of the read.
    if (isLent(memory)) process.nextTick(spoil, memory.subarray(0, length));
    return pieceOf.call(this, memory, length);
  };
  ReadBuffer.prototype.settle = function (announcedBytes, heldBytes, more, roomBytes) {
    free(this, heldBytes);
    settle.call(this, announcedBytes, heldBytes, more, roomBytes);
  };
  ReadBuffer.prototype.reset = function (heldBytes) {
    free(this, heldBytes);
    reset.call(this, heldBytes);
  };
}
