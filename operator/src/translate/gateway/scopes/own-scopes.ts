/** The scopes of Gateways with dedicated proxies, and the routes of each. */
import type { DedicatedGateway } from "../dedicated/gateway.ts";
import { listenersOf } from "../listeners/gateways.ts";
import type { Claim } from "./host-tables.ts";
import type { PlacedGateway } from "./placement.ts";
import { createScopeBuilder, type GatewayScope, type ScopeInput } from "./scope.ts";

/** The scope of one Gateway. */
export type OwnScope = GatewayScope & { readonly of: DedicatedGateway };

/** Builds the scopes of the Gateways that have one, and drops the state of removed Gateways. */
export function createOwnScopes(): (
  own: readonly DedicatedGateway[],
  inputOf: (gateway: DedicatedGateway["gateway"]) => ScopeInput | undefined,
) => readonly OwnScope[] {
  type Build = ReturnType<typeof createScopeBuilder>;
  let builders = new Map<string, Build>();
  return (own, inputOf) => {
    const next = new Map<string, Build>();
    const scopes = own.flatMap((of): OwnScope | readonly [] => {
      const { namespace, name } = of.gateway.metadata;
      const key = `${namespace}/${name}`;
      const build = builders.get(key) ?? createScopeBuilder();
      next.set(key, build);
      const input = inputOf(of.gateway);
      return input === undefined ? [] : { ...build(input), of };
    });
    builders = next;
    return scopes;
  };
}

type Claiming<Plan> = {
  readonly plan: Plan;
  readonly status: { readonly parents: readonly unknown[] };
  readonly claims: readonly Claim<Plan>[];
};

/**
 * Finds the routes that are served at any of the given Gateways, without duplicates. If `gateways` is
 * undefined, these are all routes that have a parent of this controller.
 */
export function createPlanFinder<Plan>(
  routes: readonly Claiming<Plan>[],
  gateways: readonly PlacedGateway[] | undefined,
): (of: readonly PlacedGateway[]) => readonly Plan[] {
  if (gateways === undefined) {
    const plans: Plan[] = [];
    for (const { plan, status } of routes) if (status.parents.length > 0) plans.push(plan);
    return () => plans;
  }
  const ownerOf = new Map(
    gateways.flatMap((gateway) =>
      listenersOf(gateway).map(({ id }): [string, PlacedGateway] => [id, gateway]),
    ),
  );
  const plansOf = new Map<PlacedGateway, Set<Plan>>();
  for (const { plan, claims } of routes) {
    for (const { listener } of claims) {
      const owner = ownerOf.get(listener.id);
      if (owner !== undefined) plansOf.set(owner, (plansOf.get(owner) ?? new Set<Plan>()).add(plan));
    }
  }
  return (of) => [...new Set(of.flatMap((gateway) => [...(plansOf.get(gateway) ?? [])]))];
}
