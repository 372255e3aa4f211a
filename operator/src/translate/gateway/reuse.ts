/** Reuses the last translation of the Gateway API until something that it depends on changes. */
import { kindNames, type KindName } from "../../api/kinds.ts";
import type { World } from "../../world.ts";
import { haveSameItems } from "../incremental/memo.ts";
import type { HostOwners } from "../ownership.ts";
import type { LeftOut } from "../size/object-size.ts";

/**
 * Kinds that the translation of Gateways does not depend on: those of Ingresses, and those that only later
 * stages read. Routes refer to endpoint sets by name without reading them, and endpoints change far more often
 * than everything else.
 */
const unrelatedKinds: ReadonlySet<KindName> = new Set([
  "Ingress",
  "IngressClass",
  "SvcIngressClassParameters",
  "EndpointSlice",
  "SvcBackendPolicy",
  "BackendTLSPolicy",
]);

type Plan<T> = (world: World) => Build<T>;
type Build<T> = (leftOut: LeftOut, owners: HostOwners) => T;

/**
 * Returns the same stage, which repeats its last result until a list of another kind, what is left out, or a
 * host owner changes.
 */
export function reuseUnlessChanged<T>(plan: Plan<T>): Plan<T> {
  let last: { readonly world: World; readonly build: Build<T> } | undefined;
  return (world) => {
    const known = last;
    const isSame =
      known !== undefined &&
      kindNames.every((kind) => unrelatedKinds.has(kind) || known.world[kind] === world[kind]);
    last = { world, build: isSame ? known.build : reuseLast(plan(world)) };
    return last.build;
  };
}

function reuseLast<T>(build: Build<T>): Build<T> {
  let known: { readonly inputs: readonly unknown[]; readonly output: T } | undefined;
  return (leftOut, owners) => {
    const inputs = [leftOut, owners];
    if (known === undefined || !haveSameItems(known.inputs, inputs)) {
      known = { inputs, output: build(leftOut, owners) };
    }
    return known.output;
  };
}
