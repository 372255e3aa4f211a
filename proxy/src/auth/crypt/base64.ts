const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Encodes base 64 as `crypt` does: least significant digit first, 24 bits in four characters, octets in `order`. */
export function encodeCrypt64(octets: Buffer, order: readonly (readonly number[])[]): string {
  let text = "";
  for (const group of order) {
    let bits = 0;
    for (const index of group) bits = (bits << 8) | (octets[index] ?? 0);
    for (let left = Math.ceil((group.length * 8) / 6); left > 0; left--) {
      text += alphabet.charAt(bits & 63);
      bits >>>= 6;
    }
  }
  return text;
}
