import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { Filter } from "../filters/filter.ts";
import type { CompiledRoute } from "./compiled-route.ts";
import { isOverspent, startLookup } from "./expression-budget.ts";
import { emptyHostIndex, tablesOf, type PortHosts } from "./host-index.ts";
import type { HostTable } from "./host-table.ts";

/** What a lookup sees of a request. Host is lower case without port and trailing dot; path is normalised. */
export type RouteQuery = {
  readonly host: string;
  readonly path: string;
  /** Query with its `?`, or empty. */
  readonly query: string;
  readonly method: string;
  readonly headers: readonly string[];
};

/** The compiled routes of one port. Immutable: an update builds a new one, sharing what did not change. */
export type PortTable = {
  /** How far the path of a request for this host is normalised before it is looked up. */
  pathLevel(host: string): PathLevel;
  /** What runs before the lookup of a route for this host; undefined where no host of the port has any such filter. */
  readonly filtersOf: ((host: string) => readonly Filter[] | undefined) | undefined;
  /** The route that serves the request, or undefined: 404, or 414 where the lookup is overspent. */
  match(query: RouteQuery): CompiledRoute | undefined;
  /**
   * Whether a request for `host` must not come over a connection whose handshake named `serverName`: the host belongs to a
   * listener of a Gateway, and the server name to another one (Gateway API, `hostname` of a listener; RFC 9110 15.5.20).
   */
  isMisdirected(serverName: string, host: string): boolean;
};

/** A port table that can be explained and changed, because it shows its hosts. */
export type OpenPortTable = PortTable & { readonly hosts: PortHosts };

/**
 * A port's routes. The most specific host decides: without a matching route there the answer is "none", unless its
 * listener passes requests on to its own less specific hosts (docs/routing.md, "Hosts").
 */
export const createPortTable = (hosts: PortHosts): OpenPortTable => ({
  hosts,
  // Requests of ports on which no host asks for it are spared the search for their host.
  pathLevel: hasTable(hosts, ({ pathLevel }) => pathLevel !== "base")
    ? (host) => ownerOf(hosts, host)?.pathLevel ?? "base"
    : () => "base",
  filtersOf: hasTable(hosts, ({ filters }) => filters !== undefined)
    ? (host) => ownerOf(hosts, host)?.filters?.compiled
    : undefined,
  match(query) {
    startLookup();
    // Nearly every request ends here, without the search.
    const exact = hosts.gateway.exact.get(query.host) ?? hosts.ingress.exact.get(query.host);
    const found = exact?.match(query);
    if (found !== undefined || exact?.inherit === false || isOverspent()) return found;
    let listener: string | undefined;
    for (const table of tablesOf(hosts, query.host)) {
      if (listener !== undefined && table.listener !== listener) continue;
      const route = table.match(query);
      if (route !== undefined || !table.inherit || isOverspent()) return route;
      listener = table.listener;
    }
    return undefined;
  },
  isMisdirected(serverName, host) {
    const wanted = ownerOf(hosts, host);
    return wanted?.group === "gateway" && ownerOf(hosts, serverName)?.listener !== wanted.listener;
  },
});

/** The table of the most specific host, which is the one that decides (docs/routing.md, "Hosts"). */
function ownerOf(hosts: PortHosts, host: string): HostTable | undefined {
  for (const table of tablesOf(hosts, host)) return table;
  return undefined;
}

const hasTable = ({ gateway, ingress }: PortHosts, has: (table: HostTable) => boolean): boolean =>
  [gateway, ingress].some(({ exact, wildcard, any }) =>
    [...exact.values(), ...wildcard.values(), ...(any === undefined ? [] : [any])].some(has),
  );

/** A port without routes: every request is answered 404. */
export const emptyPortTable: OpenPortTable = createPortTable({
  gateway: emptyHostIndex,
  ingress: emptyHostIndex,
});
