/** Tiers of routes, which keep an order that the lookup of the proxy would not give by itself. */
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";

/** The order in which the proxy tries the types of paths within a tier. */
export const typeRank = { exact: 0, prefix: 1, regex: 2 } as const;

const prefixLength = ({ type, value }: PathMatch): number => (type === "prefix" ? value.length : 0);

/** Whether the proxy tries a route before another one of its tier (common/src/ir/route.ts, `hostRoutesSchema`). */
const isTriedBefore = ({ match: { path: a } }: Route, { match: { path: b } }: Route): boolean =>
  (typeRank[a.type] - typeRank[b.type] || prefixLength(b) - prefixLength(a)) < 0;

/** A route in the order in which routes are to be tried. `level`, 0 if absent, only rises in this order. */
export type OrderedRoute = { readonly route: Route; readonly level?: number };

/**
 * Assigns tiers to routes in order. A route begins another tier if the proxy would try it before the route that precedes
 * it, or if their levels differ. `isBefore` replaces the comparison for routes whose paths are written in another form.
 */
export function inTiers(
  ordered: readonly OrderedRoute[],
  isBefore: (a: Route, b: Route) => boolean = isTriedBefore,
): readonly Route[] {
  let tier = 0;
  return ordered.map(({ route, level }, index) => {
    const before = ordered[index - 1];
    if (before !== undefined && (level !== before.level || isBefore(route, before.route))) tier += 1;
    return tier === 0 ? route : { ...route, tier };
  });
}
