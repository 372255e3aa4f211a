import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** The well-known prefix of IPv6 addresses that embed IPv4 addresses (RFC 6052 section 2.1). */
const translated = [0x64, 0xff9b, 0, 0, 0, 0] as const;

/**
 * The network that counts as one client: an IPv4 address, or the /64 of an IPv6 address (`2001:db8:0:0::/64`, its
 * groups without leading zeros), because one host has all addresses of its /64 (RFC 4291 2.5.1). IPv4-mapped and NAT64
 * addresses count as the IPv4 address that they contain. Text that is not an address is returned unchanged.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(":") || !isIPv6(ip)) return ip;
  const address = ipaddr.IPv6.parse(ip.split("%", 1)[0] ?? ip);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  const { parts } = address;
  if (translated.every((part, index) => parts[index] === part)) {
    const [high = 0, low = 0] = parts.slice(6);
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  const network = parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
