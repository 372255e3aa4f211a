import { sharedReadBytes } from "../read-buffer.ts";

/** Room for what is written together with a piece of the size of a read: a head, or the framing of a chunk. */
const textRoomBytes = 2048;

/** Memory of two sizes that writes are put together in, each while no write that the system has not taken is in it. */
const memories = [
  { size: 32_768, free: undefined as Buffer | undefined },
  { size: sharedReadBytes + textRoomBytes, free: undefined as Buffer | undefined },
];

/**
 * Copies a piece between two texts of one octet per character into memory that is used again: for the system one write, in
 * which nothing of the caller's memory is referred to. Undefined when that is too much. To be given to the system, and to `keepWrite`
 * if that has not taken all of it, before the next call.
 */
export function joinWrite(before: string, bytes: Uint8Array, after: string): Buffer | undefined {
  const length = before.length + bytes.length + after.length;
  const memory = memories.find(({ size }) => length <= size);
  if (memory === undefined) return undefined;
  const into = (memory.free ??= Buffer.allocUnsafeSlow(memory.size));
  if (before !== "") into.write(before, "latin1");
  into.set(bytes, before.length);
  if (after !== "") into.write(after, before.length + bytes.length, "latin1");
  return into.subarray(0, length);
}

/** Leaves the memory of a write to it; answers how much that is. */
export function keepWrite(joined: Buffer): number {
  const { buffer } = joined;
  for (const memory of memories) if (memory.free?.buffer === buffer) memory.free = undefined;
  return buffer.byteLength;
}
