/** Finds routes of Gateways whose requests all go to another route with the same match (docs/cli.md, "check"). */
import type { RouteMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { formatRef } from "@svc-gateway/operator/api/object.ts";
import { matchShadowed, routeShadowed } from "@svc-gateway/operator/translate/diagnostics/routes.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import type { ServedHost } from "@svc-gateway/operator/translate/routing.ts";
import { winnersOf } from "@svc-gateway/operator/translate/shadowed-routes.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { createLookup, type Lookup } from "@svc-gateway/operator/world.ts";
import { describePath } from "../text/path.ts";

/** A match of a rule at one host of one listener. */
type MatchPlace = {
  readonly route: Route;
  readonly served: ServedHost;
  /** The route that gets the requests instead, if there is one. */
  readonly winner: Route | undefined;
};

/** The maximum number of hosts that a finding names. */
const maxHosts = 3;

/**
 * Returns the findings of routes that share a match and a host with a route that takes precedence. A route that is so
 * at all its hosts gets no requests, which is an error; one that gets others has a warning for each such match. If the
 * other route only has the narrower hostname, and the match is reached at another host, it works as intended.
 */
export function findShadowedRoutes({ routing, scopes, world }: Translation): readonly Diagnostic[] {
  const lookup = createLookup(world);
  const hosts = [routing, ...scopes.dedicated.map((scope) => scope.routing)].flatMap((one) => one.hosts);
  const places = hosts.filter(({ group }) => group === "gateway").flatMap(placesAt);
  return [...Map.groupBy(places, ({ route }) => formatRef(route.source)).values()].flatMap((ofRoute) => {
    if (!ofRoute.some(isShadowed)) return [];
    const finding = ofRoute.every(isShadowed) ? routeShadowed : matchShadowed;
    const reported = [...Map.groupBy(ofRoute, matchOf).values()].flatMap((ofMatch) =>
      ofMatch.every(isShadowed) ? ofMatch : ofMatch.filter((one) => isShadowed(one) && !isNarrowed(one)),
    );
    return [...Map.groupBy(reported, (one) => `${matchOf(one)} ${one.winner?.id}`).values()].flatMap(
      (taken) => {
        const [{ route, winner } = {}] = taken;
        if (route === undefined || winner === undefined) return [];
        const place = { object: route.source, field: ruleOf(route, lookup) };
        const by = areOfOne(route, winner)
          ? `${ruleOf(winner, lookup)} of the same route`
          : formatRef(winner.source);
        return [finding(place, `${describeMatch(route.match)} on ${describeHosts(taken)} is that of ${by}`)];
      },
    );
  });
}

function placesAt(served: ServedHost): readonly MatchPlace[] {
  const { routes } = served.value;
  const winners = winnersOf(routes);
  return routes.flatMap((route, index) => {
    // What remains of a route without room has a finding already, and no match of its own.
    if (route.id.endsWith(":left-out")) return [];
    const winner = winners[index];
    // A match that is repeated in its rule makes no difference.
    return [{ route, served, winner: winner?.id === route.id ? undefined : winner }];
  });
}

const isShadowed = ({ winner }: MatchPlace): boolean => winner !== undefined;

/** Whether the other route has precedence because its hostname is narrower (docs/gateway-api.md, "Precedence"). */
const isNarrowed = ({ route, winner }: MatchPlace): boolean => (route.tier ?? 0) !== (winner?.tier ?? 0);

const matchOf = ({ route }: MatchPlace): string => `${route.id} ${JSON.stringify(route.match)}`;

const areOfOne = (a: Route, b: Route): boolean => formatRef(a.source) === formatRef(b.source);

/** The path of the rule that a route is part of. See docs/reference/access-log.md, "Route identifiers". */
function ruleOf({ id, source: { kind, namespace, name } }: Route, lookup: Lookup): string {
  const rule = id.slice(id.lastIndexOf(":") + 1);
  const object = kind === "HTTPRoute" || kind === "GRPCRoute" ? lookup(kind, namespace, name) : undefined;
  const named = object?.spec.rules?.findIndex((one) => one.name === rule) ?? -1;
  return `spec.rules[${named === -1 ? rule : named}]`;
}

/** Describes a match without the values of headers and parameters, which can be secret. */
const describeMatch = ({ path, method, headers = [], query = [] }: RouteMatch): string =>
  [
    `Match ${describePath(path)}`,
    ...(method === undefined ? [] : [`method ${method}`]),
    ...headers.map(({ name }) => `header ${name}`),
    ...query.map(({ name }) => `query parameter ${name}`),
  ].join(", ");

function describeHosts(taken: readonly MatchPlace[]): string {
  const all = [...new Set(taken.map(describeHost))];
  const more = all.length > maxHosts ? ` and ${all.length - maxHosts} more` : "";
  return `${all.slice(0, maxHosts).join(", ")}${more}`;
}

function describeHost({ served: { host, value } }: MatchPlace): string {
  const [kind, namespace, name, listener] = value.listener.split("/");
  return `host ${host.host} (listener ${listener} of ${kind} ${namespace}/${name})`;
}
