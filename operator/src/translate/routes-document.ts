/** The routing table as a document for people and tools. See docs/routing.md, "The routes document". */
import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import { formatIpPort } from "@svc-gateway/common/values/ip-address.ts";
import { compareText } from "./age.ts";
import type { Conflict } from "./finding.ts";
import type { Routing } from "./routing.ts";
import { winnersOf } from "./shadowed-routes.ts";
import type { Translation } from "./translation.ts";

type RouteEntry = {
  readonly type: "exact" | "prefix" | "regex";
  readonly path: string;
  /** `namespace/service` of the backends, comma-separated. */
  readonly backend_group: string;
  /** The object that has the route. */
  readonly namespace: string;
  readonly name: string;
  readonly route_id: string;
  /** `ip:port` of all endpoints of the backends; IPv6 addresses are in brackets. */
  readonly endpoints: readonly string[];
};

type HostEntry = {
  readonly port: number;
  /** A host name, `*.name`, or `*` for every host. */
  readonly host: string;
  readonly routes: readonly RouteEntry[];
};

/** A route that is never chosen because of another one. */
type ConflictEntry = {
  readonly port: number;
  readonly host: string;
  readonly type: "exact" | "prefix" | "regex";
  readonly path: string;
  readonly rejected_group: string;
  readonly namespace: string;
  readonly name: string;
};

type GroupDocument = {
  readonly hosts: readonly HostEntry[];
  readonly conflicts: readonly ConflictEntry[];
};

type RoutesDocument = {
  readonly pod_name: string;
  readonly routes: { readonly [G in RouteGroup]: GroupDocument };
  /** Present if there is a query: the number of selected routes, of those in this document, and of those skipped. */
  readonly total?: number;
  readonly returned?: number;
  readonly offset?: number;
};

/** Selects routes by equal host, namespace and path, and a page of them. */
export type RoutesQuery = {
  readonly host?: string;
  readonly namespace?: string;
  readonly path?: string;
  /** The maximum number of routes, from 1 to 1000; the default is 1000. */
  readonly limit?: number;
  /** The number of selected routes to skip. */
  readonly offset?: number;
};

/** The routes that the proxies of a scope serve, and the conflicts among them. */
export type ServedTable = Pick<Translation, "routing" | "conflicts">;

const maxLimit = 1000;

/**
 * Builds the document. Without a query it is complete. With one, `limit` and `offset` count routes in the order
 * of the document: Ingress before Gateway, ports ascending, hosts by name, routes by precedence. Hosts without
 * a selected route are omitted.
 */
export function buildRoutesDocument(
  { routing, conflicts }: ServedTable,
  podName: string,
  query?: RoutesQuery,
): RoutesDocument {
  const selection = createSelection(query);
  const all: readonly Shadowed[] = [...conflicts, ...shadowedByOthers(routing)];
  const group = (name: RouteGroup): GroupDocument => ({
    hosts: listHosts(routing, name, selection),
    conflicts: all
      .filter((conflict) => conflict.group === name && selection.hasConflict(conflict))
      .flatMap(toConflictEntries),
  });
  const routes = { ingress: group("ingress"), gateway: group("gateway") };
  if (query === undefined) return { pod_name: podName, routes };
  return { pod_name: podName, routes, ...selection.counts() };
}

type Shadowed = Omit<Conflict, "winner">;

/** Routes of Gateways that match exactly the same requests as a preceding route. */
function shadowedByOthers({ hosts }: Routing): readonly Shadowed[] {
  return hosts
    .filter(({ group }) => group === "gateway")
    .flatMap(({ group, ports, host, value }) => {
      const winners = winnersOf(value.routes);
      return value.routes.flatMap(({ match, source, backends }, index): Shadowed[] => {
        if (winners[index] === undefined) return [];
        const rejectedServices = backends.map(({ service }) => service).join(",");
        return [{ group, ports, host, path: match.path, loser: source, rejectedServices }];
      });
    });
}

type Selection = {
  readonly hasHost: (host: string) => boolean;
  readonly hasConflict: (conflict: Shadowed) => boolean;
  /** Counts this route, the next one in order, and returns whether it is selected and on the requested page. */
  readonly takes: (route: Route) => boolean;
  readonly counts: () => Required<Pick<RoutesDocument, "total" | "returned" | "offset">>;
  readonly keepsEmptyHosts: boolean;
};

function createSelection(query: RoutesQuery | undefined): Selection {
  const { host, namespace, path, limit = maxLimit, offset = 0 } = query ?? {};
  const last = query === undefined ? Number.POSITIVE_INFINITY : offset + Math.min(limit, maxLimit);
  let total = 0;
  let returned = 0;
  const isMatch = (what: { readonly namespace: string | undefined; readonly path: string }): boolean =>
    (namespace === undefined || namespace === what.namespace) && (path === undefined || path === what.path);
  const hasHost = (name: string): boolean => host === undefined || host === name;
  return {
    hasHost,
    hasConflict: (conflict) =>
      hasHost(conflict.host.host) &&
      isMatch({ namespace: conflict.loser.namespace, path: conflict.path.value }),
    takes: ({ source, match }) => {
      if (!isMatch({ namespace: source.namespace, path: match.path.value })) return false;
      const position = total++;
      if (position < offset || position >= last) return false;
      returned++;
      return true;
    },
    counts: () => ({ total, returned, offset }),
    keepsEmptyHosts: query === undefined,
  };
}

function listHosts(routing: Routing, group: RouteGroup, selection: Selection): readonly HostEntry[] {
  return routing.hosts
    .filter((served) => served.group === group && selection.hasHost(served.host.host))
    .flatMap((served) => served.ports.map((port) => ({ port, served })))
    .sort((a, b) => a.port - b.port || compareText(a.served.host.host, b.served.host.host))
    .map(({ port, served }) => ({
      port,
      host: served.host.host,
      routes: listRoutes(served.value, routing, selection),
    }))
    .filter(({ routes }) => selection.keepsEmptyHosts || routes.length > 0);
}

const listRoutes = ({ routes }: HostRoutes, routing: Routing, selection: Selection): readonly RouteEntry[] =>
  routes
    .filter((route) => selection.takes(route))
    .map(({ id, source, match, backends }) => ({
      type: match.path.type,
      path: match.path.value,
      backend_group: backends.map(({ service }) => service).join(","),
      namespace: source.namespace,
      name: source.name,
      route_id: id,
      endpoints: backends.flatMap(({ endpoints = "" }) =>
        (findEntry(routing.endpoints, endpoints)?.set.addresses ?? []).map(({ host, port }) =>
          formatIpPort(host, port),
        ),
      ),
    }));

const toConflictEntries = ({ ports, host, path, rejectedServices, loser }: Shadowed): ConflictEntry[] =>
  ports.map((port) => ({
    port,
    host: host.host,
    type: path.type,
    path: path.value,
    rejected_group: rejectedServices,
    namespace: loser.namespace ?? "",
    name: loser.name,
  }));
