import { endOfString, huffmanCodes } from "./huffman-code.ts";

/** What an entry of the table says besides the next state, in its low byte, and the octet, in the byte above. */
const emits = 0x1_0000;
const fails = 0x2_0000;

/**
 * The decoder as a state machine that takes four bits at a time. A state is an inner node of the code's tree, 256 of them; no
 * code is shorter than five bits, so four bits complete at most one octet.
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

/** Most octets that `length` octets of code can encode: no code has less than five bits. */
export const maxDecodedBytes = (length: number): number => Math.floor((length * 8) / 5);

/**
 * Decodes a string (RFC 7541 5.2) into memory that has room for `maxDecodedBytes`. Answers how many octets it has; -1 for
 * one that holds EOS or is padded with anything but the beginning of EOS, less than an octet of it.
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
