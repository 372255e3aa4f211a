import { huffmanCodes } from "../../../src/http2/hpack/huffman-code.ts";
import { staticFields } from "../../../src/http2/hpack/static-table.ts";

/** How a field is written into a block (RFC 7541 6). */
export type Representation = {
  readonly name: string;
  readonly value: string;
  readonly kind: "indexed" | "incremental" | "plain" | "never";
  readonly isNameCoded: boolean;
  readonly isValueCoded: boolean;
};

const codes = new Map(huffmanCodes().map((code) => [code.symbol, code]));

/** A text in the Huffman code of RFC 7541, padded with ones. */
export function coded(text: string): Buffer {
  let bits = "";
  for (const octet of Buffer.from(text, "latin1")) {
    const code = codes.get(octet);
    if (code !== undefined) bits += code.bits.toString(2).padStart(code.length, "0");
  }
  bits += "1".repeat((8 - (bits.length % 8)) % 8);
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
}

/** A number with a prefix of `bits` bits (RFC 7541 5.1). */
export function integer(first: number, bits: number, value: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.of(first | value);
  const octets = [first | most];
  let rest = value - most;
  for (; rest > 127; rest = Math.floor(rest / 128)) octets.push((rest % 128) | 128);
  return Buffer.of(...octets, rest);
}

const string = (text: string, isCoded: boolean): Buffer => {
  const bytes = isCoded ? coded(text) : Buffer.from(text, "latin1");
  return Buffer.concat([integer(isCoded ? 0x80 : 0, 7, bytes.length), bytes]);
};

/** An encoder that uses every representation, with a table of 4,096 octets. */
export class BlockEncoder {
  private readonly table: (readonly [string, string])[] = [];

  encode(fields: readonly Representation[]): Buffer {
    return Buffer.concat(fields.map((one) => this.field(one)));
  }

  private field({ name, value, kind, isNameCoded, isValueCoded }: Representation): Buffer {
    const all = [...staticFields, ...this.table];
    const whole = all.findIndex((entry) => entry[0] === name && entry[1] === value) + 1;
    if (kind === "indexed" && whole > 0) return integer(0x80, 7, whole);
    const index = all.findIndex((entry) => entry[0] === name) + 1;
    const [first, bits] = kind === "plain" ? [0, 4] : kind === "never" ? [0x10, 4] : [0x40, 6];
    const head = integer(first, bits, index);
    if (bits === 6) this.add(name, value);
    const names = index === 0 ? [string(name, isNameCoded)] : [];
    return Buffer.concat([head, ...names, string(value, isValueCoded)]);
  }

  private add(name: string, value: string): void {
    this.table.unshift([name, value]);
    const size = (): number => this.table.reduce((sum, [a, b]) => sum + a.length + b.length + 32, 0);
    while (size() > 4096) this.table.pop();
  }
}
