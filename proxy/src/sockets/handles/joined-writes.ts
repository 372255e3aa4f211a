import { sharedReadBytes } from "../read-buffer.ts";

/** Room for the text that is written with a piece of the size of a read: a head, or the framing of a chunk. */
const textRoomBytes = 2048;

/**
 * Memory of two sizes in which writes are joined. A memory is free while it holds no write that waits for the kernel.
 */
const memories = [
  { size: 32_768, free: undefined as Buffer | undefined },
  { size: sharedReadBytes + textRoomBytes, free: undefined as Buffer | undefined },
];

/**
 * Copies a piece between two texts of one octet per character into reused memory, for one write that does not refer to
 * the caller's memory. Returns undefined if the size is too large. Before the next call, the result must be written,
 * and passed to `keepWrite` if the kernel has not accepted all of it.
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

/** Keeps the memory of a waiting write from being reused. Returns the size of that memory. */
export function keepWrite(joined: Buffer): number {
  const { buffer } = joined;
  for (const memory of memories) if (memory.free?.buffer === buffer) memory.free = undefined;
  return buffer.byteLength;
}
