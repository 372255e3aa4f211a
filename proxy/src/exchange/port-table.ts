import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { DemandedRules } from "../tls/client-validation.ts";
import type { CompiledRoute } from "./compiled-route.ts";
import type { Filter } from "./filter.ts";
import type { RouteQuery } from "./route-query.ts";

/** The compiled routes of one port; lookups always use the current ones. */
export type PortTable = {
  /** How far the path of a request for this host is normalised before it is looked up. */
  pathLevel(host: string): PathLevel;
  /** Returns the filters that run before the route lookup for this host. Undefined if no host of the port has any. */
  readonly filtersOf: ((host: string) => readonly Filter[] | undefined) | undefined;
  /**
   * Returns the rules by which clients of this host must have been verified on connections with TLS. Undefined if no
   * host of the port has such rules. They are taken from the host table that routes a request, not from the table of
   * certificates: a wildcard of a Gateway covers more labels than a certificate does.
   */
  readonly clientRulesOf: ((host: string) => DemandedRules | undefined) | undefined;
  /** Returns the route that serves the request; undefined leads to 404, or to 414 if the lookup exceeded its budget. */
  match(query: RouteQuery): CompiledRoute | undefined;
  /**
   * Reports whether a request for `host` must not use a connection whose handshake named `serverName`, because the host
   * belongs to a listener of a Gateway and the server name does not (Gateway API, `hostname` of a listener; RFC 9110
   * 15.5.20).
   */
  isMisdirected(serverName: string, host: string): boolean;
  /**
   * Returns the kind of the owner that serves this host by name or wildcard; undefined if only a catch-all does, or
   * none.
   */
  groupOf(host: string): RouteGroup | undefined;
};
