import type { TrustForwardedFor } from "@svc-gateway/common/features/trust-forwarded-for.ts";
import { compileCidrs, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import { canonicalIp, isPrivateOrReserved } from "@svc-gateway/common/values/ip-address.ts";
import { parsePort } from "@svc-gateway/common/values/port.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { hostOf } from "../message/authority.ts";

/** More proxies than any chain has. A header of 64 KiB holds thousands, which would take the thread a long time to read. */
const maxScanned = 100;

const noHops = compileCidrs([]);

/**
 * Finds the client behind trusted proxies before other filters use its address, and passes the fields of a trusted proxy on
 * to the backend: `X-Forwarded-For` extended by the peer, `X-Forwarded-Proto` as it came. See
 * docs/features/trust-forwarded-for.md.
 */
export function trustForwardedForFilter({
  header,
  trustedCidrs,
  trustsUrl,
  privateClients,
}: TrustForwardedFor): Filter {
  const hops = trustedCidrs === undefined ? noHops : compileCidrs(readCidrs(trustedCidrs).cidrs);
  const name = header.toLowerCase();
  const findClient = (list: string): string | undefined =>
    clientOf(list, {
      // Where every peer is trusted, private addresses are the only ones that must be those of proxies.
      isProxy: (ip) =>
        hops.contains(ip) ||
        ((privateClients !== true || trustedCidrs === undefined) && isPrivateOrReserved(ip)),
      takesFirst: privateClients === true,
    });
  return {
    slug: "trust-forwarded-for",
    onRequest(exchange) {
      const { received, headers, connection } = exchange;
      const peer = canonicalIp(connection.remoteAddress) ?? connection.remoteAddress;
      const trusted = trustedCidrs === undefined || hops.contains(peer);
      const list = trusted ? received.joined(name) : undefined;
      exchange.clientIp = (list === undefined ? undefined : findClient(list)) ?? peer;
      headers.replace("X-Real-IP", exchange.clientIp);
      if (!trusted) return undefined;
      const chain = received.joined("x-forwarded-for");
      if (chain) headers.replace("X-Forwarded-For", `${chain}, ${connection.remoteAddress}`);
      const proto = received.joined("x-forwarded-proto");
      if (proto && trustsUrl !== false) headers.replace("X-Forwarded-Proto", proto);
      if (trustsUrl === true) takeUrl(exchange, proto);
      return undefined;
    },
  };
}

/** Takes over the first value of each field, which the proxy next to the client has written. */
function takeUrl(exchange: Exchange, proto: string | undefined): void {
  const { received, headers } = exchange;
  const authority = firstItem(received.joined("x-forwarded-host"));
  const host = authority === undefined ? undefined : hostOf(authority);
  const port = parsePort(firstItem(received.joined("x-forwarded-port")) ?? "");
  if (authority !== undefined && host !== undefined) headers.replace("X-Forwarded-Host", authority);
  if (port.ok) headers.replace("X-Forwarded-Port", String(port.value));
  exchange.forwardedUrl = {
    scheme: schemes.get(firstItem(proto)?.toLowerCase() ?? ""),
    host,
    port: port.ok ? port.value : undefined,
  };
}

const firstItem = (list: string | undefined): string | undefined => list?.split(",", 1)[0]?.trim();

/** The scheme of the URL that a WebSocket client began with differs by name only. */
const schemes: ReadonlyMap<string, "http" | "https"> = new Map([
  ["http", "http"],
  ["ws", "http"],
  ["https", "https"],
  ["wss", "https"],
]);

type Hops = {
  readonly isProxy: (ip: string) => boolean;
  /** Whether the first address is the client where all of them are those of proxies. */
  readonly takesFirst: boolean;
};

/**
 * The last address of the list that is no proxy. Undefined when there is none among the last hundred, or when an entry after
 * it is no address: its writer may have written all that precedes it.
 */
function clientOf(list: string, { isProxy, takesFirst }: Hops): string | undefined {
  let first: string | undefined;
  let end = list.length;
  for (let scanned = 0; end >= 0 && scanned < maxScanned; scanned++) {
    const comma = end === 0 ? -1 : list.lastIndexOf(",", end - 1);
    const ip = parseNode(list.slice(comma + 1, end).trim());
    if (ip === undefined) return undefined;
    if (!isProxy(ip)) return ip;
    first = ip;
    end = comma;
  }
  return takesFirst && end < 0 ? first : undefined;
}

const longestNode = "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535".length;
const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/;
const withPort = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/;

/** The address of `ip`, `ip:port`, `[ip6]` or `[ip6]:port` in canonical form; undefined for anything else. */
function parseNode(token: string): string | undefined {
  if (token.length > longestNode) return undefined;
  if (!token.startsWith("[")) return canonicalIp(withPort.exec(token)?.[1] ?? token);
  const inner = bracketed.exec(token)?.[1];
  return inner?.includes(":") === true ? canonicalIp(inner) : undefined;
}
