/**
 * A 32-bit hash of a text: each UTF-16 code unit goes through the block step of MurmurHash3 (x86, 32 bits), the result
 * through `mix`. Not for secrets: it is the same on every proxy, and a client can find texts that collide. Its values
 * decide which endpoint serves which client, so a change of it moves every client.
 */
export function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) {
    const block = Math.imul(text.charCodeAt(i), 0xcc9e2d51);
    hash ^= Math.imul((block << 15) | (block >>> 17), 0x1b873593);
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  return mix(hash ^ text.length);
}

/** The finaliser of MurmurHash3: every bit of the input changes every bit of the output half of the time. */
export function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
