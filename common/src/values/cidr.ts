import { shown } from "./clip.ts";
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { ok, problem, type Problem, type Result } from "./result.ts";

/**
 * A range of addresses of one family. `network` is the first address of the range in canonical form, so two spellings
 * of one range (`10.1.2.3/8`, `10.0.0.0/8`) are equal.
 */
export type Cidr = { readonly family: 4 | 6; readonly network: string; readonly prefixLength: number };

const expected = 'a CIDR such as "10.0.0.0/8" or "2001:db8::/32", or a bare IP address';

/**
 * Reads an IPv4 or IPv6 CIDR. A bare address is a host route (/32 or /128); host bits below the prefix are cleared.
 * IPv4-mapped IPv6 ranges stay IPv6. Zone identifiers, octal and shortened IPv4 forms are refused.
 */
export function parseCidr(text: string): Result<Cidr, Problem> {
  const trimmed = text.trim();
  const [address = "", prefix, ...rest] = trimmed.split("/", 3);
  const family = isIPv4(address) ? 4 : isIPv6(address) && !address.includes("%") ? 6 : undefined;
  const bits = family === 4 ? 32 : 128;
  const prefixLength = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : bits + 1;
  if (family === undefined || rest.length > 0 || prefixLength > bits)
    return problem(`"${shown(trimmed)}" is not a CIDR`, expected);
  const network =
    family === 4
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address}/${prefixLength}`).toString()
      : ipaddr.IPv6.networkAddressFromCIDR(`${address}/${prefixLength}`).toRFC5952String();
  return ok({ family, network, prefixLength });
}

/** Writes a CIDR in canonical form, always with its prefix length. */
export const formatCidr = ({ network, prefixLength }: Cidr): string => `${network}/${prefixLength}`;

/** Reads ranges one by one, so that an invalid one does not affect the others. Rejected texts are shortened. */
export function readCidrs(texts: readonly string[]): {
  readonly cidrs: readonly Cidr[];
  readonly refused: readonly string[];
} {
  const cidrs: Cidr[] = [];
  const refused: string[] = [];
  for (const text of texts) {
    const parsed = parseCidr(text);
    if (parsed.ok) cidrs.push(parsed.value);
    else refused.push(shown(text));
  }
  return { cidrs, refused };
}

/** A set of ranges, compiled for lookups on the request path. */
export type CidrMatcher = {
  readonly isEmpty: boolean;
  /**
   * Whether the address is in one of the ranges. Families never mix: an IPv4-mapped IPv6 address is not in an IPv4
   * range, so callers that need this must canonicalise the address first. Text that is not an address is in no range.
   */
  contains(ip: string): boolean;
};

/**
 * Compiles ranges to sorted, merged intervals per family, so that a lookup is one parse and one binary search for any
 * number of ranges.
 */
export function compileCidrs(cidrs: readonly Cidr[]): CidrMatcher {
  const v4 = compileFamily(cidrs.filter(({ family }) => family === 4));
  const v6 = compileFamily(cidrs.filter(({ family }) => family === 6));
  return {
    isEmpty: cidrs.length === 0,
    contains(ip) {
      const v4Bits = ipv4Bits(ip);
      if (v4Bits >= 0) {
        probe[0] = v4Bits;
        return v4.length > 0 && isInside(v4, 1);
      }
      if (v6.length === 0 || !isIPv6(ip) || ip.includes("%")) return false;
      writeProbe(ipaddr.IPv6.parse(ip).parts);
      return isInside(v6, 4);
    },
  };
}

/**
 * Compiles ranges to a search for the narrowest range that contains an address, by which a rule can be identified. It
 * takes one lookup for each prefix length that occurs, and is slower than `compileCidrs`; it is used for explanations.
 */
export function compileCidrSearch(cidrs: readonly Cidr[]): (ip: string) => Cidr | undefined {
  const byLength = new Map<string, { readonly hostBits: bigint; readonly ranges: Map<bigint, Cidr> }>();
  const narrowestFirst = cidrs.toSorted((a, b) => b.prefixLength - a.prefixLength);
  for (const cidr of narrowestFirst) {
    const { family, prefixLength } = cidr;
    const key = `${family} ${prefixLength}`;
    const hostBits = BigInt((family === 4 ? 32 : 128) - prefixLength);
    const group = byLength.get(key) ?? { hostBits, ranges: new Map<bigint, Cidr>() };
    byLength.set(key, group);
    group.ranges.set(interval(cidr).first >> hostBits, cidr);
  }
  const groups = [...byLength.entries()].map(([key, group]) => ({ family: key[0], ...group }));
  return (ip) => {
    const parsed = parseCidr(ip);
    if (!parsed.ok) return undefined;
    const bits = interval(parsed.value).first;
    const family = String(parsed.value.family);
    for (const { family: ofGroup, hostBits, ranges } of groups) {
      const found = ofGroup === family ? ranges.get(bits >> hostBits) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** The address being looked up, as 32-bit words, most significant first. Shared because lookups never interleave. */
const probe = new Uint32Array(4);

/** The bits of a dotted IPv4 address, or -1 for any other text. Allocates nothing. */
function ipv4Bits(text: string): number {
  const { length } = text;
  if (length < 7 || length > 15) return -1;
  let bits = 0;
  let octet = -1;
  let dots = 0;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 46) {
      if (octet < 0 || dots === 3) return -1;
      bits = bits * 256 + octet;
      octet = -1;
      dots += 1;
    } else {
      const digit = code - 48;
      if (digit < 0 || digit > 9 || octet === 0) return -1;
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return -1;
    }
  }
  return dots === 3 && octet >= 0 ? bits * 256 + octet : -1;
}

/** Intervals of one family as `first, last` pairs of 1 (IPv4) or 4 (IPv6) words each, ascending and disjoint. */
function compileFamily(cidrs: readonly Cidr[]): Uint32Array {
  const intervals = cidrs
    .map(interval)
    .toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const merged: { first: bigint; last: bigint }[] = [];
  for (const { first, last } of intervals) {
    const previous = merged.at(-1);
    if (previous !== undefined && first <= previous.last + 1n)
      previous.last = last > previous.last ? last : previous.last;
    else merged.push({ first, last });
  }
  const words = cidrs[0]?.family === 4 ? 1 : 4;
  return Uint32Array.from(
    merged.flatMap(({ first, last }) => [...toWords(first, words), ...toWords(last, words)]),
  );
}

function interval({ family, network, prefixLength }: Cidr): { first: bigint; last: bigint } {
  const bytes =
    family === 4 ? ipaddr.IPv4.parse(network).toByteArray() : ipaddr.IPv6.parse(network).toByteArray();
  const first = bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
  const hostBits = BigInt((family === 4 ? 32 : 128) - prefixLength);
  return { first, last: first | ((1n << hostBits) - 1n) };
}

function toWords(bits: bigint, count: number): number[] {
  return Array.from({ length: count }, (_, index) =>
    Number((bits >> BigInt(32 * (count - 1 - index))) & 0xffffffffn),
  );
}

function writeProbe(parts: readonly number[]): void {
  for (let word = 0; word < 4; word += 1)
    probe[word] = ((parts[2 * word] ?? 0) << 16) | (parts[2 * word + 1] ?? 0);
}

/** Binary search of `probe` in intervals whose ends are `words` words long. */
function isInside(intervals: Uint32Array, words: 1 | 4): boolean {
  let low = 0;
  let high = intervals.length / (2 * words);
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = middle * 2 * words;
    if (compareProbe(intervals, at, words) < 0) high = middle;
    else if (compareProbe(intervals, at + words, words) > 0) low = middle + 1;
    else return true;
  }
  return false;
}

function compareProbe(intervals: Uint32Array, at: number, words: 1 | 4): number {
  for (let word = 0; word < words; word += 1) {
    const difference = (probe[word] ?? 0) - (intervals[at + word] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
