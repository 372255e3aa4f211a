import type { TrustForwardedFor } from "@svc-gateway/common/features/trust-forwarded-for.ts";
import { compileCidrs, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import { canonicalIp, isPrivateOrReserved } from "@svc-gateway/common/values/ip-address.ts";
import { parsePort } from "@svc-gateway/common/values/port.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { hostOf } from "../message/authority.ts";

/**
 * The maximum number of list entries to read, more than any chain of proxies has. A header of 64 KiB can hold
 * thousands, which would occupy the thread for a long time.
 */
const maxScanned = 100;

const noHops = compileCidrs([]);

/** The ranges of all addresses. A peer without a known address, as in `explain`, is in them as well. */
const allAddresses = ["0.0.0.0/0", "::/0"];

/**
 * Finds the client behind trusted proxies before other filters use its address, and passes the fields of a trusted
 * proxy on to the backend: `X-Forwarded-For` with the peer appended, `X-Forwarded-Proto` unchanged. See
 * docs/features/trust-forwarded-for.md.
 */
export function trustForwardedForFilter({
  header,
  trustedCidrs,
  trustsUrl,
  privateClients,
}: TrustForwardedFor): Filter {
  const hops = trustedCidrs === undefined ? noHops : compileCidrs(readCidrs(trustedCidrs).cidrs);
  const trustsAll = trustedCidrs === undefined || allAddresses.every((range) => trustedCidrs.includes(range));
  const name = header.toLowerCase();
  const findClient = (list: string): string | undefined =>
    clientOf(list, {
      // If every peer is trusted, there are no ranges: private addresses count as proxies even with `privateClients`.
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
      const trusted = trustsAll || hops.contains(peer);
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

/** Adopts the first value of each field, which was written by the proxy nearest to the client. */
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

/** The schemes that a proxy can report. Those of WebSocket URLs differ from http and https by name only. */
const schemes: ReadonlyMap<string, "http" | "https"> = new Map([
  ["http", "http"],
  ["ws", "http"],
  ["https", "https"],
  ["wss", "https"],
]);

type Hops = {
  readonly isProxy: (ip: string) => boolean;
  /** Whether the first address is that of the client if all addresses of the list are those of proxies. */
  readonly takesFirst: boolean;
};

/**
 * Returns the last address of the list that is not that of a proxy; undefined if the last hundred entries have none, or
 * if an entry after it is not an address, because its writer can have forged everything before it.
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
