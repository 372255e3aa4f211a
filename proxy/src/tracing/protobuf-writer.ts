/**
 * Writes messages in the wire format of Protocol Buffers (protobuf.dev/programming-guides/encoding) into one piece of memory, which
 * grows with the longest message and is used again for the next one.
 */

/** The numbers of the wire types that are written. */
const varintType = 0;
const fixed64Type = 1;
const bytesType = 2;
const fixed32Type = 5;

/** Of a varint, those of numbers up to 2^53 included. */
const maxVarintBytes = 8;
/** Of a UTF-16 unit in UTF-8. */
const maxUnitBytes = 3;
const initialBytes = 16 * 1024;
/** Longer texts are written by native code. */
const maxLoopLength = 256;

export class ProtobufWriter {
  private memory = Buffer.allocUnsafeSlow(initialBytes);

  private at = 0;

  /** Begins again; what `finish` has returned is overwritten. */
  begin(): void {
    this.at = 0;
  }

  /** What was written since `begin`, as a view that is valid until then. */
  finish(): Buffer {
    return this.memory.subarray(0, this.at);
  }

  /** A whole number from 0 to 2^53. */
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

  /** Milliseconds since the epoch as nanoseconds; the product is too large for a number. */
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

  /** Writes a short text of ASCII, in a loop that takes less than a call of native code; false when it is another one. */
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

  /** Bytes that are given as an even number of lower-case hexadecimal digits. */
  hex(field: number, value: string): void {
    this.reserve(2 * maxVarintBytes + value.length);
    const begin = this.open(field);
    const { memory } = this;
    for (let index = 0; index < value.length; index += 2) {
      memory[this.at++] = digit(value.charCodeAt(index)) * 16 + digit(value.charCodeAt(index + 1));
    }
    this.close(begin);
  }

  /** Bytes as they are, such as fields that were written before. */
  raw(value: Uint8Array): void {
    this.reserve(value.length);
    this.memory.set(value, this.at);
    this.at += value.length;
  }

  /** Begins a message within the message; what `close` needs is returned. */
  open(field: number): number {
    this.reserve(maxVarintBytes + 1);
    this.varint(field * 8 + bytesType);
    // Most are shorter than 128 bytes, so that one is enough for the length.
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
    // What does not fit into 31 bits is rare, and divided as a double.
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

/** Of a length, which memory can hold. */
function sizeOfVarint(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest >>>= 7) size++;
  return size;
}
