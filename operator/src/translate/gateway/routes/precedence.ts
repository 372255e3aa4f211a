/** Which of two routes of a host comes first. See docs/gateway-api.md, "Precedence". */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { compareAges, type Age } from "../../age.ts";

/**
 * The length that makes one path match narrower than another one of its type: of HTTP the characters of the path, of
 * a gRPC method those of the service and, where these are as many, those of the method (Gateway API,
 * GRPCRouteRule.matches).
 */
export type PathLength = readonly [number, number];

/** A route with what decides when its match is as good as another's. */
export type Ranked = {
  readonly route: Route;
  readonly pathLength: PathLength;
  /** 0 for routes with the narrowest host names of their own. */
  readonly tier: number;
  readonly age: Age;
  readonly position: number;
};

const rank = { exact: 0, prefix: 1, regex: 2 } as const;

/**
 * The narrower host name of its own, then the exact path, then the longest prefix, a method, the most headers, the most query parameters; then the oldest route,
 * and its rules and matches in their order (Gateway API, HTTPRouteRule.matches).
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
