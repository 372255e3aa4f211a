import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { canonicalIp } from "./ip-address.ts";

/**
 * The canonical addresses that a connection to this text can reach. IPv4-mapped, IPv4-compatible (RFC 4291 2.5.5) and
 * NAT64 (RFC 6052, well-known prefix) addresses also count as the IPv4 address in them; zones are ignored. Empty for
 * text that is not an address.
 */
export function reachableIps(text: string): readonly string[] {
  const zone = text.indexOf("%");
  const ip = canonicalIp(zone < 0 ? text : text.slice(0, zone));
  if (ip === undefined) return [];
  const inner = isIPv6(ip) ? embeddedIpv4(ip) : undefined;
  return inner === undefined ? [ip] : [ip, inner];
}

function embeddedIpv4(ip: string): string | undefined {
  const { parts } = ipaddr.IPv6.parse(ip);
  const prefix = parts.slice(0, 6);
  const isCompatible = prefix.every((part) => part === 0);
  const isNat64 = prefix[0] === 0x64 && prefix[1] === 0xff9b && prefix.slice(2).every((part) => part === 0);
  if (!isCompatible && !isNat64) return undefined;
  const [high = 0, low = 0] = parts.slice(6);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Whether packets to a canonical address never leave the host or its link: loopback, unspecified, link-local. */
export const isNodeLocal = (ip: string): boolean => nodeLocal.has(ipaddr.parse(ip).range());

/** Whether a canonical address is a loopback address. */
export const isLoopback = (ip: string): boolean => ipaddr.parse(ip).range() === "loopback";

const nodeLocal: ReadonlySet<string> = new Set(["loopback", "unspecified", "linkLocal"]);
