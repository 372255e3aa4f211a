import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { DemandedRules } from "../tls/client-validation.ts";
import type { CompiledRoute } from "./compiled-route.ts";
import type { Filter } from "./filter.ts";
import type { RouteQuery } from "./route-query.ts";

/** The compiled routes of one port, always those that serve now. */
export type PortTable = {
  /** How far the path of a request for this host is normalised before it is looked up. */
  pathLevel(host: string): PathLevel;
  /** What runs before the lookup of a route for this host; undefined where no host of the port has any such filter. */
  readonly filtersOf: ((host: string) => readonly Filter[] | undefined) | undefined;
  /**
   * By which rules the clients of this host's connections with TLS must have been verified; undefined where no host of the
   * port asks for anything. The host table that routes a request decides, not the table of certificates: a wildcard of a
   * Gateway covers more labels than a certificate does.
   */
  readonly clientRulesOf: ((host: string) => DemandedRules | undefined) | undefined;
  /** The route that serves the request, or undefined: 404, or 414 where the lookup is overspent. */
  match(query: RouteQuery): CompiledRoute | undefined;
  /**
   * Whether a request for `host` must not come over a connection whose handshake named `serverName`: the host belongs to a
   * listener of a Gateway, and the server name to another one (Gateway API, `hostname` of a listener; RFC 9110 15.5.20).
   */
  isMisdirected(serverName: string, host: string): boolean;
  /** Whose host this is by its own name or a wildcard; undefined: only a catch-all serves it, or nothing does. */
  groupOf(host: string): RouteGroup | undefined;
};
