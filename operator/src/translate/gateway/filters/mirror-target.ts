import type { MirrorTarget } from "@svc-gateway/common/features/mirror-target.ts";
import type { HTTPRouteRuleFilterRequestMirror as Written } from "../../../api/generated/httproute.ts";
import type { Refusal } from "../../condition.ts";
import { resolveBackendRef } from "../routes/backend-ref.ts";
import type { FilterContext } from "./filter-context.ts";

/** Where a RequestMirror filter sends copies, or why its backend cannot be used. */
export function readMirror(
  written: Written | undefined,
  { view, allowExternalName, kind, namespace, findings }: FilterContext,
): MirrorTarget | Refusal {
  if (written === undefined)
    return { reason: "UnsupportedValue", message: "A RequestMirror names no backend" };
  const { backendRef, fraction, percent } = written;
  const isGrpc = kind === "GRPCRoute";
  const options = { view, allowExternalName, isGrpc, use: "copies" } as const;
  const resolved = resolveBackendRef(backendRef, { kind, namespace }, options);
  const { backend, need, refusal } = resolved;
  if (refusal !== undefined) return refusal;
  const { service, endpoints, protocol } = backend;
  if (need === undefined || endpoints === undefined) return [];
  findings.needs.push(need);
  const share =
    percent === undefined
      ? fraction && { numerator: fraction.numerator, denominator: fraction.denominator ?? 100 }
      : { numerator: percent, denominator: 100 };
  return [{ service, endpoints, protocol, ...(share && { fraction: share }) }];
}
