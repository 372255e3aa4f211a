/** Routes of one host that never get a request, because an earlier one has the same match. */
import type { RouteMatch, ValueMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";

/**
 * Returns for each of the routes, which are in their order of precedence, the first one if that is another one that
 * matches exactly the same requests. Routes of Gateways without precedence are part of the tables of proxies, unlike
 * those of Ingresses. See docs/gateway-api.md, "Precedence".
 */
export function winnersOf(routes: readonly Route[]): readonly (Route | undefined)[] {
  const first = new Map<string, Route>();
  return routes.map((route) => {
    const key = keyOf(route.match);
    const winner = first.get(key);
    if (winner === undefined) first.set(key, route);
    return winner;
  });
}

/** The match as text, which is equal for matches that differ only in the order of their conditions. */
const keyOf = ({ path, method, headers, query, cookies }: RouteMatch): string =>
  JSON.stringify([
    [path.type, path.value, path.whole ?? false],
    method,
    ...[headers, query, cookies].map(inAnyOrder),
  ]);

const inAnyOrder = (values: readonly ValueMatch[] = []): readonly string[] =>
  values.map(({ name, type, value }) => JSON.stringify([name, type, value])).sort();
