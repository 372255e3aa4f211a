import { DynamicTable } from "./dynamic-table.ts";
import { HpackField } from "./hpack-field.ts";
import { decodeHuffman, maxDecodedBytes } from "./huffman.ts";
import { staticFields } from "./static-table.ts";

/** Receives the fields of a block, in order. */
export type FieldSink = { onField(field: HpackField): void };

/** Returns the tag of a field. Called once for a literal; repetitions by index have the same tag. */
export type FieldJudge = (name: string, value: string) => number;

/** The default of SETTINGS_HEADER_TABLE_SIZE (RFC 9113 6.5.2), which the proxy does not change. */
const tableBytes = 4096;
/** The largest number in a block; the block itself is far smaller. */
const maxInteger = 0xfff_ffff;
/** Shared memory for decoded strings; strings whose code exceeds 16 KiB get new memory. */
const scratch = Buffer.allocUnsafeSlow(maxDecodedBytes(16_384));

/**
 * Decodes header blocks (RFC 7541) of one direction of a connection. A block is read to its end even if its sink
 * rejects fields, so that the table stays in sync with the encoder. The memory that a block causes is bounded by the
 * table and the block itself, because fields referred to by index are not copied.
 */
export class HpackDecoder {
  private readonly judge: FieldJudge;
  private readonly table = new DynamicTable(tableBytes);
  private readonly statics: readonly HpackField[];
  private bytes: Buffer = scratch;
  private at = 0;
  private end = 0;
  /** The position of the string that was read last. */
  private text: Buffer = scratch;
  private textStart = 0;
  private textEnd = 0;

  constructor(judge: FieldJudge) {
    this.judge = judge;
    this.statics = staticFieldsOf(judge);
  }

  /** Decodes a block; returns false for an invalid one: a connection error of type COMPRESSION_ERROR (RFC 9113 4.3). */
  decode(bytes: Buffer, start: number, end: number, sink: FieldSink): boolean {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
    const isSound = this.readFields(sink);
    this.bytes = scratch;
    this.text = scratch;
    return isSound;
  }

  private readFields(sink: FieldSink): boolean {
    if (!this.readSizeUpdates()) return false;
    while (this.at < this.end) {
      const first = this.bytes[this.at] as number;
      if (first >= 0x80) {
        if (!this.readIndexed(sink)) return false;
      } else if (first >= 0x40) {
        if (!this.readLiteral(6, sink)) return false;
      } else if (first >= 0x20) return false;
      else if (!this.readLiteral(4, sink)) return false;
    }
    return true;
  }

  /** Reads size updates: allowed only at the beginning of a block and up to the announced size (RFC 7541 4.2, 6.3). */
  private readSizeUpdates(): boolean {
    while (this.at < this.end && ((this.bytes[this.at] as number) & 0xe0) === 0x20) {
      const size = this.readInteger(5);
      if (size < 0 || size > tableBytes) return false;
      this.table.resize(size);
    }
    return true;
  }

  private readIndexed(sink: FieldSink): boolean {
    const index = this.readInteger(7);
    if (index <= 0) return false;
    if (index <= staticFields.length) {
      sink.onField(this.statics[index - 1] as HpackField);
      return true;
    }
    const { table } = this;
    const at = index - staticFields.length - 1;
    if (at >= table.count) return false;
    sink.onField(table.at(at));
    return true;
  }

  /** Reads a literal whose name index has `prefix` bits: 6 if the field is added to the table. */
  private readLiteral(prefix: number, sink: FieldSink): boolean {
    const name = this.readName(prefix);
    if (name === undefined || !this.readString()) return false;
    const value = this.text.toString("latin1", this.textStart, this.textEnd);
    const isKept = prefix === 6;
    const field = new HpackField(name, value, this.judge(name, value), isKept);
    if (isKept) this.table.add(field);
    sink.onField(field);
    return true;
  }

  private readName(prefix: number): string | undefined {
    const index = this.readInteger(prefix);
    if (index < 0) return undefined;
    if (index === 0) {
      return this.readString() ? this.text.toString("latin1", this.textStart, this.textEnd) : undefined;
    }
    if (index <= staticFields.length) return staticFields[index - 1]?.[0];
    const at = index - staticFields.length - 1;
    return at < this.table.count ? this.table.at(at).name : undefined;
  }

  /** Locates and decodes the next string. Returns false if it exceeds the block or its code is invalid. */
  private readString(): boolean {
    if (this.at >= this.end) return false;
    const isCoded = (this.bytes[this.at] as number) >= 0x80;
    const length = this.readInteger(7);
    const start = this.at;
    if (length < 0 || length > this.end - start) return false;
    this.at = start + length;
    if (!isCoded) {
      this.text = this.bytes;
      this.textStart = start;
      this.textEnd = this.at;
      return true;
    }
    const most = maxDecodedBytes(length);
    this.text = most <= scratch.length ? scratch : Buffer.allocUnsafeSlow(most);
    this.textStart = 0;
    this.textEnd = decodeHuffman(this.bytes, start, this.at, this.text);
    return this.textEnd >= 0;
  }

  /**
   * Reads a number with a prefix of `prefix` bits (RFC 7541 5.1); -1 if it does not end within the block or is too
   * large.
   */
  private readInteger(prefix: number): number {
    const { bytes, end } = this;
    if (this.at >= end) return -1;
    const mask = (1 << prefix) - 1;
    let value = (bytes[this.at++] as number) & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 28 && this.at < end; shift += 7) {
      const octet = bytes[this.at++] as number;
      value += (octet & 0x7f) * 2 ** shift;
      if (octet < 0x80) return value > maxInteger ? -1 : value;
    }
    return -1;
  }
}

const staticsByJudge = new Map<FieldJudge, readonly HpackField[]>();

/** Returns the static fields with the tags of a judge, which all its connections share. */
function staticFieldsOf(judge: FieldJudge): readonly HpackField[] {
  const known = staticsByJudge.get(judge);
  if (known !== undefined) return known;
  const fields = staticFields.map(([name, value]) => new HpackField(name, value, judge(name, value)));
  staticsByJudge.set(judge, fields);
  return fields;
}
