import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { compileCidrs, type CidrMatcher } from "./cidr.ts";
import { ok, problem, type Problem, type Result } from "./result.ts";

/**
 * Reads an IPv4 or IPv6 address and returns its canonical form (RFC 5952). An IPv4-mapped IPv6 address becomes the IPv4
 * address in it. Zone identifiers, octal and shortened IPv4 forms are rejected.
 */
export function parseIpAddress(text: string): Result<string, Problem> {
  const canonical = canonicalIp(text.trim());
  return canonical === undefined
    ? problem(`"${text.trim().slice(0, 60)}" is not an IP address`, "an IPv4 or IPv6 address")
    : ok(canonical);
}

/**
 * The canonical form of an address, equal to the result of `parseIpAddress`, or undefined if the text is not an
 * address.
 */
export function canonicalIp(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toRFC5952String();
}

/**
 * The canonical form of an address in a PROXY protocol header, or undefined if the text is not an address. Families
 * stay separate: an IPv4-mapped address in such a header is IPv6 (docs/reference/values.md#addresses).
 */
export function receivedIp(text: string): string | undefined {
  if (isIPv4(text)) return text;
  return isIPv6(text) && !text.includes("%") ? ipaddr.IPv6.parse(text).toRFC5952String() : undefined;
}

/** Writes `ip:port`, with an IPv6 address in brackets. */
export const formatIpPort = (ip: string, port: number): string =>
  ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;

const privateOrReserved = [
  ["0.0.0.0", 32],
  ["10.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["::", 128],
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const;

/** The compiled ranges; compiled on first use, and not by every thread at its start. */
let privateOrReservedCidrs: CidrMatcher | undefined;

/**
 * Whether a canonical address can never be a client on the Internet: private, loopback, link-local, unique local or
 * unspecified. The scan of a forwarded-for header skips such addresses (docs/reference/values.md#addresses).
 */
export function isPrivateOrReserved(ip: string): boolean {
  privateOrReservedCidrs ??= compileCidrs(
    privateOrReserved.map(([network, prefixLength]) => ({
      family: network.includes(":") ? 6 : 4,
      network,
      prefixLength,
    })),
  );
  return privateOrReservedCidrs.contains(ip);
}

/**
 * Whether a canonical address can be one of the public Internet: it is not in any of the ranges for private, local,
 * shared, translated or otherwise special use (RFC 6890).
 */
export const isPublicIp = (ip: string): boolean => ipaddr.parse(ip).range() === "unicast";
