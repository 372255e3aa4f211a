import { endOfString, huffmanCodes } from "./huffman-code.ts";

/** The flags of a table entry. Its low byte is the next state, and the byte above is the decoded octet. */
const emits = 0x1_0000;
const fails = 0x2_0000;

/**
 * The transitions of the decoder, a state machine that consumes four bits at a time. A state is one of the 256 inner
 * nodes of the code tree. No code is shorter than five bits, so four bits complete at most one octet.
 */
const transitions = new Int32Array(256 * 16);
/** States in which a string may end: at most seven bits, all ones, of a code that has begun (RFC 7541 5.2). */
const accepts = new Uint8Array(256);

buildTables();

function buildTables(): void {
  /** Two children for each inner node: another one, or a symbol as `-1 - symbol`. */
  const tree: [number, number][] = [[0, 0]];
  for (const { symbol, bits, length } of huffmanCodes()) {
    let node = 0;
    for (let bit = length - 1; bit >= 0; bit--) {
      const children = tree[node] as [number, number];
      const side = Math.floor(bits / 2 ** bit) & 1;
      if (bit === 0) children[side] = -1 - symbol;
      else {
        if (children[side] === 0) children[side] = tree.push([0, 0]) - 1;
        node = children[side] as number;
      }
    }
  }
  for (let node = 0; node < tree.length; node++) {
    for (let nibble = 0; nibble < 16; nibble++)
      transitions[node * 16 + nibble] = transition(tree, node, nibble);
  }
  for (let node = 0, ones = 0; ones <= 7; ones++) {
    accepts[node] = 1;
    node = (tree[node] as [number, number])[1];
  }
}

function transition(tree: readonly [number, number][], from: number, nibble: number): number {
  let node = from;
  let entry = 0;
  for (let bit = 3; bit >= 0; bit--) {
    node = (tree[node] as [number, number])[(nibble >> bit) & 1] as number;
    if (node >= 0) continue;
    const symbol = -1 - node;
    entry |= symbol === endOfString ? fails : emits | (symbol << 8);
    node = 0;
  }
  return entry | node;
}

/** Returns the most octets that `length` octets of code can encode: no code has fewer than five bits. */
export const maxDecodedBytes = (length: number): number => Math.floor((length * 8) / 5);

/**
 * Decodes a string (RFC 7541 5.2) into memory with room for `maxDecodedBytes`. Returns its length in octets; -1 if it
 * contains EOS, or if its padding is not a prefix of EOS of less than an octet.
 */
export function decodeHuffman(from: Uint8Array, start: number, end: number, into: Uint8Array): number {
  let state = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const octet = from[at] as number;
    const high = transitions[state * 16 + (octet >> 4)] as number;
    const low = transitions[(high & 0xff) * 16 + (octet & 15)] as number;
    if (((high | low) & fails) !== 0) return -1;
    if ((high & emits) !== 0) into[length++] = high >> 8;
    if ((low & emits) !== 0) into[length++] = low >> 8;
    state = low & 0xff;
  }
  return accepts[state] === 1 ? length : -1;
}
