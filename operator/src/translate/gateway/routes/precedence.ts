/** The order of the routes of a host. See docs/gateway-api.md, "Precedence". */
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { compareAges, type Age } from "../../age.ts";
import { typeRank } from "../../tiers.ts";

/**
 * The rank of a path match: its type, then its length in characters, then for gRPC the length of its method. A match of
 * a GRPCRoute by method alone or by regular expression is ranked as a prefix of the length that its service has
 * (Gateway API, GRPCRouteRule.matches: service before method, for every type of match).
 */
export type PathRank = { readonly type: PathMatch["type"]; readonly length: number; readonly method: number };

/** A route with everything that decides its precedence besides its match. */
export type Ranked = {
  readonly route: Route;
  readonly pathRank: PathRank;
  /** The rank of the route's own host name; 0 for the narrowest one. */
  readonly level: number;
  readonly age: Age;
  readonly position: number;
};

/**
 * Compares two routes of a host by these criteria, in this order: the narrower host name of the route itself,
 * an exact path, the longest prefix, a method, the most headers, the most query parameters, the oldest route,
 * and the order of rules and matches (Gateway API, HTTPRouteRule.matches).
 */
export function comparePrecedence(a: Ranked, b: Ranked): number {
  const first = a.route.match;
  const second = b.route.match;
  return (
    a.level - b.level ||
    typeRank[a.pathRank.type] - typeRank[b.pathRank.type] ||
    b.pathRank.length - a.pathRank.length ||
    b.pathRank.method - a.pathRank.method ||
    Number(second.method !== undefined) - Number(first.method !== undefined) ||
    (second.headers?.length ?? 0) - (first.headers?.length ?? 0) ||
    (second.query?.length ?? 0) - (first.query?.length ?? 0) ||
    compareAges(a.age, b.age) ||
    a.position - b.position
  );
}
