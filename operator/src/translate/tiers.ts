/** Tiers of routes, which keep an order that the lookup of the proxy would not give by itself. */
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";

const typeRank = { exact: 0, prefix: 1, regex: 2 } as const;

const prefixLength = ({ type, value }: PathMatch): number => (type === "prefix" ? value.length : 0);

/** Whether the proxy tries a path before another one of its tier (common/src/ir/route.ts, `hostRoutesSchema`). */
export const isTriedBefore = (a: PathMatch, b: PathMatch): boolean =>
  (typeRank[a.type] - typeRank[b.type] || prefixLength(b) - prefixLength(a)) < 0;

/**
 * Assigns tiers to routes in the order in which they are to be tried. A route begins another tier if the proxy would
 * try it before the route that precedes it, or if its `level`, which only rises in this order, is another one.
 */
export function inTiers(
  ordered: readonly { readonly route: Route; readonly level: number }[],
): readonly Route[] {
  let tier = 0;
  return ordered.map(({ route, level }, index) => {
    const before = ordered[index - 1];
    if (
      before !== undefined &&
      (level !== before.level || isTriedBefore(route.match.path, before.route.match.path))
    ) {
      tier += 1;
    }
    return tier === 0 ? route : { ...route, tier };
  });
}
