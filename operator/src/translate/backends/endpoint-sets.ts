import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { refOf } from "../../api/object.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { endpointSlicesByService, type World } from "../../world.ts";
import { internalError } from "../diagnostics.ts";
import { listMemo, memo } from "../memo.ts";
import type { Diagnostic } from "../translation.ts";
import { resolveEndpoints, type ResolvedEndpoints } from "./endpoints.ts";
import type { EndpointNeed } from "./service-port.ts";

export type EndpointPart = {
  readonly sets: ReadonlyMap<string, EndpointSet>;
  readonly resources: readonly Resource[];
  readonly diagnostics: readonly Diagnostic[];
};

type Encoded = ResolvedEndpoints & { readonly resource: Resource };
type Slices = readonly ObjectOf<"EndpointSlice">[];

/** Remembers the endpoint set of each Service port until the Service or one of its EndpointSlices is another object. */
export function createEndpointTranslator(options: {
  readonly allowExternalName: boolean;
}): (world: World, needs: readonly EndpointNeed[]) => EndpointPart {
  const resolversOf = memo<ObjectOf<"Service">, Map<string, (slices: Slices) => Encoded>>(() => new Map());
  const resolverOf = (need: EndpointNeed): ((slices: Slices) => Encoded) => {
    const resolvers = resolversOf(need.service);
    const known = resolvers.get(need.name);
    if (known !== undefined) return known;
    const remember = listMemo((slices: Slices) => encode(need, slices, options.allowExternalName));
    const resolver = (slices: Slices): Encoded => remember(slices, undefined);
    resolvers.set(need.name, resolver);
    return resolver;
  };
  return (world, needs) => {
    const slices = endpointSlicesByService(world);
    const sets = new Map<string, EndpointSet>();
    const resources: Resource[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const need of needs) {
      if (sets.has(need.name)) continue;
      const { namespace, name } = need.service.metadata;
      const resolved = resolverOf(need)(slices.get(`${namespace}/${name}`) ?? []);
      sets.set(need.name, resolved.set);
      resources.push(resolved.resource);
      for (const finding of resolved.diagnostics) diagnostics.push(finding);
    }
    return { sets, resources, diagnostics };
  };
}

function encode(need: EndpointNeed, slices: Slices, allowExternalName: boolean): Encoded {
  const resolved = resolveSafely(need, slices, allowExternalName);
  return { ...resolved, resource: encodeResource(endpointsKey(need.name), resolved.set) };
}

/** Never throws: a Service that trips over a bug has no endpoints. */
function resolveSafely(need: EndpointNeed, slices: Slices, allowExternalName: boolean): ResolvedEndpoints {
  try {
    return resolveEndpoints(need, slices, allowExternalName);
  } catch (error) {
    const object = refOf(need.service);
    const set: EndpointSet = {
      service: `${object.namespace ?? ""}/${object.name}`,
      resolve: "static",
      addresses: [],
    };
    return { set, diagnostics: [internalError({ object }, error)] };
  }
}
