/** The size of routes in the snapshots of the scopes that serve them. See docs/routing.md, "Size". */
import type { Changes } from "@svc-gateway/common/collections/list-changes.ts";
import { nameOf, refOf } from "../../../api/object.ts";
import { memo } from "../../incremental/memo.ts";
import type { SizeLedger } from "../../size/ledger.ts";
import { sharedScope, type ObjectSize, type ScopeSize } from "../../size/object-size.ts";
import { hostOverheadBytes, sizeOfRoutes } from "../../size/route-size.ts";
import { listenersOf, type Listener } from "../listeners/gateways.ts";
import type { AttachedRoute } from "../routes/attached-routes.ts";
import { closeRoutes, hostClosed, type PlannedRoute, type RoutePlan } from "../routes/route-plan.ts";
import type { PlacedGateway } from "./placement.ts";

type Attached = AttachedRoute<RoutePlan>;

/**
 * Reports the sizes of routes to the ledger, for every scope that serves one of their listeners. When Gateways
 * or their listeners have moved between scopes, all routes are measured again.
 */
export function createRouteSizes(
  ledger: SizeLedger,
): (changes: Changes<Attached>, gateways: readonly PlacedGateway[]) => void {
  const sizes = new Map<Attached, ObjectSize>();
  let lastPlaces = "";
  return ({ removed, added }, gateways) => {
    const before = removed.map((route) => take(sizes, route));
    const places = JSON.stringify(gateways.map(placeOf));
    const isElsewhere = places !== lastPlaces;
    lastPlaces = places;
    if (removed.length + added.length === 0 && !isElsewhere) return;
    const scopesOf = createScopeFinder(gateways);
    const again = isElsewhere ? [...sizes.keys()] : [];
    before.push(...again.map((route) => take(sizes, route)));
    const after = [...again, ...added].flatMap((route) => {
      const size = sizeOf(route, scopesOf);
      if (size === undefined) return [];
      sizes.set(route, size);
      return [size];
    });
    ledger.edit({ removed: before.filter((size) => size !== undefined), added: after });
  };
}

function take(sizes: Map<Attached, ObjectSize>, route: Attached): ObjectSize | undefined {
  const size = sizes.get(route);
  sizes.delete(route);
  return size;
}

const placeOf = (placed: PlacedGateway): readonly unknown[] => [
  nameOf(refOf(placed.gateway)),
  placed.placement.inShared,
  placed.placement.inDedicated,
  listenersOf(placed).map(({ id }) => id),
];

/** The scopes in which a listener is served, by its id. */
function createScopeFinder(gateways: readonly PlacedGateway[]): (listener: string) => readonly string[] {
  const scopes = new Map<string, readonly string[]>();
  for (const placed of gateways) {
    const { inShared, inDedicated } = placed.placement;
    const of = [...(inShared ? [sharedScope] : []), ...(inDedicated ? [nameOf(refOf(placed.gateway))] : [])];
    for (const { id } of listenersOf(placed)) scopes.set(id, of);
  }
  return (listener) => scopes.get(listener) ?? [];
}

function sizeOf(
  { plan, claims }: Attached,
  scopesOf: (listener: string) => readonly string[],
): ObjectSize | undefined {
  if (claims.length === 0 && plan.isTooLarge === undefined) return undefined;
  const places = new Map<string, { count: number; overhead: number }>();
  for (const { listener } of claims) {
    for (const scope of scopesOf(listener.id)) {
      const place = places.get(scope) ?? { count: 0, overhead: 0 };
      places.set(scope, place);
      place.count += 1;
      place.overhead += hostOverheadBytes + sizeOfFilters(listener.filters.steps);
    }
  }
  const [full, closed, host] = [plan.routes, closeRoutes(plan), [hostClosed(plan)]].map(sizeOfPlanned) as [
    number,
    number,
    number,
  ];
  const scopes = [...places].map(([scope, { count, overhead }]): ScopeSize => ({
    scope,
    bytes: [overhead + count * full, overhead + count * closed, overhead + count * host],
  }));
  return { object: plan.ref, age: plan.age, scopes, isTooLarge: plan.isTooLarge === true };
}

const sizeOfPlanned = (planned: readonly PlannedRoute[]): number =>
  sizeOfRoutes(planned.map(({ route }) => route));

/** The size of the filters of a listener, which are repeated for each of its hosts. */
const sizeOfFilters = memo((steps: Listener["filters"]["steps"]) =>
  steps.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(steps)),
);
