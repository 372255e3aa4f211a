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

export type EndpointPart = {
  readonly sets: ReadonlyMap<string, EndpointSet>;
  readonly resources: readonly Resource[];
  readonly diagnostics: readonly Diagnostic[];
};

/** What one Service port resolved to, and from what. */
type Entry = ResolvedEndpoints & {
  readonly service: ObjectOf<"Service">;
  readonly slices: Slices;
  readonly resource: Resource;
};
type Slices = readonly ObjectOf<"EndpointSlice">[];

/**
 * Remembers the endpoint sets of the last build: one is used again for as long as the Service and its EndpointSlices
 * are the same objects.
 */
export function createEndpointTranslator(options: {
  readonly allowExternalName: boolean;
}): (world: World, needs: readonly EndpointNeed[]) => EndpointPart {
  let lastEntries: ReadonlyMap<string, Entry> = new Map();
  return (world, needs) => {
    const entries = new Map<string, Entry>();
    const sets = new Map<string, EndpointSet>();
    const resources: Resource[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const need of needs) {
      if (entries.has(need.name)) continue;
      const { namespace, name } = need.service.metadata;
      const slices = endpointSlicesOf(world, namespace, name);
      const last = lastEntries.get(need.name);
      const isCurrent =
        last !== undefined && last.service === need.service && haveSameItems(last.slices, slices);
      const entry = isCurrent ? last : resolve(need, slices, options.allowExternalName);
      entries.set(need.name, entry);
      sets.set(need.name, entry.set);
      resources.push(entry.resource);
      for (const finding of entry.diagnostics) diagnostics.push(finding);
    }
    lastEntries = entries;
    return { sets, resources, diagnostics };
  };
}

function resolve(need: EndpointNeed, slices: Slices, allowExternalName: boolean): Entry {
  const nothing: EndpointSet = { service: need.key, resolve: "static", addresses: [] };
  const resolved = attempt(need.service, () => resolveEndpoints(need, slices, allowExternalName), {
    set: nothing,
  });
  const resource = encodeResource(endpointsKey(need.name), resolved.set);
  return { ...resolved, service: need.service, slices, resource };
}
