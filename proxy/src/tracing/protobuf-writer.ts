/**
 * Writes messages in the wire format of Protocol Buffers (protobuf.dev/programming-guides/encoding) into one buffer,
 * which grows to the size of the longest message and is reused for the next one.
 */

/** The numbers of the wire types that the writer uses. */
const varintType = 0;
const fixed64Type = 1;
const bytesType = 2;
const fixed32Type = 5;

/** The maximum size of a varint, for numbers up to and including 2^53. */
const maxVarintBytes = 8;
/** The maximum size of a UTF-16 unit in UTF-8. */
const maxUnitBytes = 3;
const initialBytes = 16 * 1024;
/** The maximum length of a text that is written by a loop; longer ones are written by native code. */
const maxLoopLength = 256;

export class ProtobufWriter {
  private memory = Buffer.allocUnsafeSlow(initialBytes);

  private at = 0;

  /** Starts a new message, which overwrites the result of `finish`. */
  begin(): void {
    this.at = 0;
  }

  /** Returns the bytes written since `begin`, as a view that is valid until the next `begin`. */
  finish(): Buffer {
    return this.memory.subarray(0, this.at);
  }

  /** Writes an integer from 0 to 2^53. */
  integer(field: number, value: number): void {
    this.reserve(2 * maxVarintBytes);
    this.varint(field * 8 + varintType);
    this.varint(value);
  }

  boolean(field: number, value: boolean): void {
    this.integer(field, value ? 1 : 0);
  }

  fixed32(field: number, value: number): void {
    this.reserve(maxVarintBytes + 4);
    this.varint(field * 8 + fixed32Type);
    this.at = this.memory.writeUInt32LE(value, this.at);
  }

  double(field: number, value: number): void {
    this.reserve(maxVarintBytes + 8);
    this.varint(field * 8 + fixed64Type);
    this.at = this.memory.writeDoubleLE(value, this.at);
  }

  /** Writes milliseconds since the epoch as nanoseconds, in two halves: the product is too large for a number. */
  nanoseconds(field: number, milliseconds: number): void {
    this.reserve(maxVarintBytes + 8);
    this.varint(field * 8 + fixed64Type);
    const seconds = Math.floor(milliseconds / 1000);
    const nanos = Math.round((milliseconds - seconds * 1000) * 1e6);
    const high = Math.floor(seconds / half) * 1e9;
    const low = (high % half) * half + (seconds % half) * 1e9 + nanos;
    this.at = this.memory.writeUInt32LE(low % word, this.at);
    this.at = this.memory.writeUInt32LE(Math.floor(high / half) + Math.floor(low / word), this.at);
  }

  text(field: number, value: string): void {
    this.reserve(2 * maxVarintBytes + value.length * maxUnitBytes);
    const begin = this.open(field);
    if (value.length > maxLoopLength || !this.ascii(value)) this.at += this.memory.write(value, this.at);
    this.close(begin);
  }

  /** Writes a short ASCII text in a loop, which is faster than a native call. Returns false if it is not ASCII. */
  private ascii(value: string): boolean {
    const { memory, at } = this;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      memory[at + index] = code;
    }
    this.at = at + value.length;
    return true;
  }

  /** Writes bytes that are given as an even number of lower-case hexadecimal digits. */
  hex(field: number, value: string): void {
    this.reserve(2 * maxVarintBytes + value.length);
    const begin = this.open(field);
    const { memory } = this;
    for (let index = 0; index < value.length; index += 2) {
      memory[this.at++] = digit(value.charCodeAt(index)) * 16 + digit(value.charCodeAt(index + 1));
    }
    this.close(begin);
  }

  /** Writes bytes unchanged, such as fields that were encoded before. */
  raw(value: Uint8Array): void {
    this.reserve(value.length);
    this.memory.set(value, this.at);
    this.at += value.length;
  }

  /** Begins a nested message; returns its position for `close`. */
  open(field: number): number {
    this.reserve(maxVarintBytes + 1);
    this.varint(field * 8 + bytesType);
    // Reserves one byte for the length, enough for the most frequent messages, of less than 128 bytes.
    return ++this.at;
  }

  close(begin: number): void {
    const length = this.at - begin;
    if (length < 0x80) {
      this.memory[begin - 1] = length;
      return;
    }
    const more = sizeOfVarint(length) - 1;
    this.reserve(more);
    this.memory.copyWithin(begin + more, begin, this.at);
    this.at = begin - 1;
    this.varint(length);
    this.at += length;
  }

  private varint(value: number): void {
    if (value < 0x80) {
      this.memory[this.at++] = value;
      return;
    }
    let rest = value;
    // Values of more than 31 bits are rare, and divided as doubles.
    for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 0x80)) this.memory[this.at++] = (rest % 0x80) | 0x80;
    for (; rest >= 0x80; rest >>>= 7) this.memory[this.at++] = (rest & 0x7f) | 0x80;
    this.memory[this.at++] = rest;
  }

  private reserve(bytes: number): void {
    const needed = this.at + bytes;
    if (needed <= this.memory.length) return;
    const memory = Buffer.allocUnsafeSlow(Math.max(needed, this.memory.length * 2));
    memory.set(this.memory.subarray(0, this.at));
    this.memory = memory;
  }
}

const half = 2 ** 16;
const word = 2 ** 32;

/** The value of a lower-case hexadecimal digit. */
const digit = (code: number): number => (code < 0x60 ? code - 0x30 : code - 0x57);

/** The size of a varint of a length, which is at most that of a buffer. */
function sizeOfVarint(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest >>>= 7) size++;
  return size;
}
