import type { BackendPolicy } from "@svc-gateway/common/features/backend-policy.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { endpointSlicesOf, type World } from "../../world.ts";
import { attempt } from "../attempt.ts";
import { haveSameItems } from "../memo.ts";
import type { Diagnostic } from "../translation.ts";
import { resolveEndpoints, type ResolvedEndpoints } from "./endpoints.ts";
import type { EndpointNeed } from "./service-port.ts";

type EndpointPart = {
  readonly sets: ReadonlyMap<string, EndpointSet>;
  readonly resources: readonly Resource[];
  readonly diagnostics: readonly Diagnostic[];
};

type Slices = readonly ObjectOf<"EndpointSlice">[];

/** What a need resolved to, and from what. */
type Entry = ResolvedEndpoints & {
  readonly slices: Slices;
  readonly policy: BackendPolicy | undefined;
  readonly resource: Resource;
  /** The list of all EndpointSlices that last held these: the same list holds them still. */
  list: Slices;
};

type PolicyOf = (service: string) => BackendPolicy | undefined;

/**
 * Remembers the endpoint set of each need until an EndpointSlice of its Service, or its policy, is another object.
 * `policyOf` gives the policy of a Service by `namespace/name`.
 */
export function createEndpointTranslator(options: {
  readonly allowExternalName: boolean;
}): (world: World, needs: readonly EndpointNeed[], policyOf: PolicyOf) => EndpointPart {
  const entries = new WeakMap<EndpointNeed, Entry>();
  const entryOf = (need: EndpointNeed, world: World, policy: BackendPolicy | undefined): Entry => {
    const list = world.EndpointSlice;
    const remembered = entries.get(need);
    const known = remembered?.policy === policy ? remembered : undefined;
    if (known?.list === list) return known;
    const { namespace, name } = need.service.metadata;
    const slices = endpointSlicesOf(world, namespace, name);
    if (known !== undefined && haveSameItems(known.slices, slices)) {
      known.list = list;
      return known;
    }
    const resolved = resolve(need, slices, options.allowExternalName);
    const set = policy === undefined ? resolved.set : { ...resolved.set, policy };
    const resource = encodeResource(endpointsKey(need.name), set);
    const entry = { set, diagnostics: resolved.diagnostics, slices, policy, resource, list };
    entries.set(need, entry);
    return entry;
  };
  return (world, needs, policyOf) => {
    const sets = new Map<string, EndpointSet>();
    const resources: Resource[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const need of needs) {
      if (sets.has(need.name)) continue;
      const entry = entryOf(need, world, policyOf(need.key));
      sets.set(need.name, entry.set);
      resources.push(entry.resource);
      for (const finding of entry.diagnostics) diagnostics.push(finding);
    }
    return { sets, resources, diagnostics };
  };
}

function resolve(need: EndpointNeed, slices: Slices, allowExternalName: boolean): ResolvedEndpoints {
  const nothing: EndpointSet = { service: need.key, resolve: "static", addresses: [] };
  return attempt(need.service, () => resolveEndpoints(need, slices, allowExternalName), { set: nothing });
}
