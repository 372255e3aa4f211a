/** The size from which `Buffer.from` allocates separate memory, which it fills with zeros first. */
const largeBytes = 4096;

/** Returns a copy of borrowed memory from `from` to `to`, which the caller may keep. */
export function copyOf(bytes: Uint8Array, from: number, to: number): Buffer {
  const piece = bytes.subarray(from, to);
  if (piece.length < largeBytes) return Buffer.from(piece);
  const copy = Buffer.allocUnsafeSlow(piece.length);
  copy.set(piece);
  return copy;
}
