import { DynamicTable } from "./dynamic-table.ts";
import { HpackField } from "./hpack-field.ts";
import { decodeHuffman, maxDecodedBytes } from "./huffman.ts";
import { staticFields } from "./static-table.ts";

/** Takes the fields of a block, in order. */
export type FieldSink = { onField(field: HpackField): void };

/** Looks at a field when it comes as a literal, once also for all its repetitions by index, and answers its tag. */
export type FieldJudge = (name: string, value: string) => number;

/** SETTINGS_HEADER_TABLE_SIZE unless it is announced otherwise (RFC 9113 6.5.2). */
const tableBytes = 4096;
/** No number of a block may be larger; the block itself is far smaller. */
const maxInteger = 0xfff_ffff;
/** Strings whose code is longer than this are decoded into memory of their own. */
const scratch = Buffer.allocUnsafeSlow(maxDecodedBytes(16_384));

/**
 * Decodes header blocks (RFC 7541) of one direction of a connection. A block is read to its end even when its sink rejects
 * fields, so that the table stays that of the encoder. What a block makes this hold is bounded by the table and
 * the block itself: what is referred to by index is not copied.
 */
export class HpackDecoder {
  private readonly judge: FieldJudge;
  private readonly table = new DynamicTable(tableBytes);
  private readonly statics: readonly HpackField[];
  private bytes: Buffer = scratch;
  private at = 0;
  private end = 0;
  /** The place of the string that was read last. */
  private text: Buffer = scratch;
  private textStart = 0;
  private textEnd = 0;

  constructor(judge: FieldJudge) {
    this.judge = judge;
    this.statics = staticFieldsOf(judge);
  }

  /** Answers false for a block that is no valid one: a connection error of type COMPRESSION_ERROR (RFC 9113 4.3). */
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

  /** Only at the beginning of a block, and not beyond what was announced (RFC 7541 4.2, 6.3). */
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

  /** A literal whose index of the name has `prefix` bits: 6 where it enters the table. */
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

  /** Finds the next string, decoded if need be. False: it does not end within the block, or is coded badly. */
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

  /** A number with a prefix of `prefix` bits (RFC 7541 5.1); -1 for one that does not end within the block or is too large. */
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

/** The same for all connections of a judge. */
function staticFieldsOf(judge: FieldJudge): readonly HpackField[] {
  const known = staticsByJudge.get(judge);
  if (known !== undefined) return known;
  const fields = staticFields.map(([name, value]) => new HpackField(name, value, judge(name, value)));
  staticsByJudge.set(judge, fields);
  return fields;
}
