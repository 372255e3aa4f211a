import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { HTTPRouteRuleFilter } from "../../../api/generated/httproute.ts";
import type { EndpointRef } from "../../backends/service-port.ts";
import type { Fault } from "../../condition.ts";
import type { FilterContext } from "../filters/filter-context.ts";
import { readFilters } from "../filters/route-filters.ts";
import { invalidAnswer, resolveBackendRef, type WrittenBackendRef } from "./backend-ref.ts";

type Written = WrittenBackendRef & { readonly filters?: readonly unknown[] };

export type ReadBackends = {
  /** Returns the backends for requests of one match. They depend on it because of prefix replacements. */
  readonly of: (path: PathMatch) => readonly Backend[];
  readonly endpointRefs: readonly EndpointRef[];
  readonly unresolved: readonly Fault[];
  readonly unsupported: readonly Fault[];
};

/**
 * Reads the backends of a rule with their own filters. A backend that cannot be resolved, or that has an
 * unsupported filter, answers 500 for its share of requests.
 */
export function readBackends(refs: readonly Written[] | undefined, context: FilterContext): ReadBackends {
  const { view, allowExternalName, kind, namespace } = context;
  const from = { kind, namespace };
  const options = { view, allowExternalName, isGrpc: kind === "GRPCRoute" };
  const consequence = `its share of requests is answered ${invalidAnswer(kind)}`;
  const read = (refs ?? []).map((ref, index) => {
    const field = `${context.place.field}.backendRefs[${index}]`;
    const { refusal, ...resolved } = resolveBackendRef(ref, from, options);
    return {
      ...resolved,
      faults: refusal === undefined ? [] : [{ ...refusal, field, consequence }],
      // Filters of both route kinds have the shape of an HTTPRoute's.
      filters: readFilters(ref.filters as readonly HTTPRouteRuleFilter[] | undefined, {
        ...context,
        level: "backend",
        place: { ...context.place, field },
      }),
    };
  });
  const of = (path: PathMatch): readonly Backend[] =>
    read.map(({ backend, filters }) => {
      const { weight, service } = backend;
      if (filters.isBroken) return { weight, service, protocol: "http1", status: 500, fault: "filter" };
      const features = filters.of(path);
      return features === undefined ? backend : { ...backend, features };
    });
  return {
    of,
    endpointRefs: read.flatMap(({ endpointRef }) => endpointRef ?? []),
    unresolved: read.flatMap(({ faults, filters }) => [...faults, ...filters.unresolved]),
    unsupported: read.flatMap(({ filters }) => filters.unsupported),
  };
}
