import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { HTTPRouteRuleFilter } from "../../api/generated/httproute.ts";
import type { EndpointNeed } from "../backends/service-port.ts";
import type { Refusal } from "../condition.ts";
import { anyPath } from "../ingress/path.ts";
import type { Referrer } from "../reference-grants.ts";
import { resolveBackendRef, type BackendRefOptions, type WrittenBackendRef } from "./backend-ref.ts";
import { readFilters } from "./filters.ts";

type Written = WrittenBackendRef & { readonly filters?: readonly unknown[] };

export type ReadBackends = {
  /** The backends for requests of one match, since replacing a prefix depends on it. */
  readonly of: (path: PathMatch) => readonly Backend[];
  readonly needs: readonly EndpointNeed[];
  readonly unresolved: Refusal | undefined;
  readonly unsupported: Refusal | undefined;
};

/** The backends of a rule with their own filters. A backend that cannot be resolved answers 500 for its share. */
export function readBackends(
  refs: readonly Written[] | undefined,
  from: Referrer,
  options: BackendRefOptions,
): ReadBackends {
  const resolved = (refs ?? []).map((ref) => ({
    ...resolveBackendRef(ref, from, options),
    // Filters of both route kinds have the shape of an HTTPRoute's.
    filters: ref.filters as readonly HTTPRouteRuleFilter[] | undefined,
  }));
  const plain = resolved.map(({ backend }) => backend);
  const hasFilters = resolved.some(({ filters = [] }) => filters.length > 0);
  const withFilters = (path: PathMatch): readonly Backend[] =>
    resolved.map(({ backend, filters }) => {
      const { features } = readFilters(filters, path);
      return features === undefined ? backend : { ...backend, features };
    });
  return {
    of: hasFilters ? withFilters : () => plain,
    needs: resolved.flatMap(({ need }) => need ?? []),
    unresolved: resolved.find(({ refusal }) => refusal !== undefined)?.refusal,
    unsupported: resolved
      .map(({ filters }) => readFilters(filters, anyPath).unsupported)
      .find((refusal) => refusal !== undefined),
  };
}
