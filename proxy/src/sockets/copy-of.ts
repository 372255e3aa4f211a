/** From this size on `Buffer.from` makes memory of its own, which it fills with zeros first. */
const largeBytes = 4096;

/** A copy of what is in borrowed memory from `from` to `to`, which may be kept. */
export function copyOf(bytes: Uint8Array, from: number, to: number): Buffer {
  const piece = bytes.subarray(from, to);
  if (piece.length < largeBytes) return Buffer.from(piece);
  const copy = Buffer.allocUnsafeSlow(piece.length);
  copy.set(piece);
  return copy;
}
