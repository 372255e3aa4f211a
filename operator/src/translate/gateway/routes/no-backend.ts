/** Findings about rules without a backend. */
import { noBackend } from "../../diagnostics/gateway.ts";
import type { FilterContext } from "../filters/filter-context.ts";

type Weighted = { readonly weight?: number };

/** Whether backends are named, but all of them have weight 0. */
export const areWeightless = (refs: readonly Weighted[] | undefined): boolean =>
  refs !== undefined && refs.length > 0 && refs.every(({ weight }) => weight === 0);

/** Reports why requests of a rule of an HTTPRoute or GRPCRoute have no backend (HTTPRouteRule.backendRefs). */
export function reportNoBackend(
  rule: {
    readonly backendRefs?: readonly Weighted[];
    readonly filters?: readonly { readonly type: string }[];
  },
  { place, findings }: FilterContext,
): void {
  const { backendRefs = [], filters = [] } = rule;
  if (filters.some(({ type }) => type === "RequestRedirect")) return;
  const instead = "its requests are answered 500";
  if (backendRefs.length === 0) {
    findings.diagnostics.push(noBackend(place, "The rule names no backend", instead));
  } else if (areWeightless(backendRefs)) {
    const at = { ...place, field: `${place.field}.backendRefs` };
    findings.diagnostics.push(noBackend(at, "All backends have the weight 0", instead));
  }
}
