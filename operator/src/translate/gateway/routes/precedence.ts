/** The order of the routes of a host. See docs/gateway-api.md, "Precedence". */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { compareAges, type Age } from "../../age.ts";

/**
 * The length that ranks a path match among others of its type. For HTTP it is the number of characters of the
 * path. For gRPC it is that of the service and, where these are equal, that of the method (Gateway API,
 * GRPCRouteRule.matches).
 */
export type PathLength = readonly [number, number];

/** A route with everything that decides its precedence besides its match. */
export type Ranked = {
  readonly route: Route;
  readonly pathLength: PathLength;
  /** The rank of the route's own host name; 0 for the narrowest one. */
  readonly tier: number;
  readonly age: Age;
  readonly position: number;
};

const rank = { exact: 0, prefix: 1, regex: 2 } as const;

/**
 * Compares two routes of a host by these criteria, in this order: the narrower host name of the route itself,
 * an exact path, the longest prefix, a method, the most headers, the most query parameters, the oldest route,
 * and the order of rules and matches (Gateway API, HTTPRouteRule.matches).
 */
export function comparePrecedence(a: Ranked, b: Ranked): number {
  const first = a.route.match;
  const second = b.route.match;
  return (
    a.tier - b.tier ||
    rank[first.path.type] - rank[second.path.type] ||
    b.pathLength[0] - a.pathLength[0] ||
    b.pathLength[1] - a.pathLength[1] ||
    Number(second.method !== undefined) - Number(first.method !== undefined) ||
    (second.headers?.length ?? 0) - (first.headers?.length ?? 0) ||
    (second.query?.length ?? 0) - (first.query?.length ?? 0) ||
    compareAges(a.age, b.age) ||
    a.position - b.position
  );
}
