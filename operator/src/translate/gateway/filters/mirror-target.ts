import type { MirrorTarget } from "@svc-gateway/common/features/mirror-target.ts";
import type { HTTPRouteRuleFilterRequestMirror as Written } from "../../../api/generated/httproute.ts";
import type { ConditionReason } from "../../condition.ts";
import { resolveBackendRef } from "../routes/backend-ref.ts";
import type { FilterContext } from "./filter-context.ts";

/**
 * Returns the targets that a RequestMirror filter copies requests to, or the reason why its backend cannot be used.
 */
export function readMirror(
  written: Written | undefined,
  { view, allowExternalName, kind, namespace, findings }: FilterContext,
): MirrorTarget | ConditionReason {
  if (written === undefined)
    return { reason: "UnsupportedValue", message: "A RequestMirror names no backend" };
  const { backendRef, fraction, percent } = written;
  const isGrpc = kind === "GRPCRoute";
  const options = { view, allowExternalName, isGrpc, use: "copies" } as const;
  const resolved = resolveBackendRef(backendRef, { kind, namespace }, options);
  const { backend, endpointRef, refusal } = resolved;
  if (refusal !== undefined) return refusal;
  const { service, endpoints, protocol } = backend;
  if (endpointRef === undefined || endpoints === undefined) return [];
  findings.endpointRefs.push(endpointRef);
  const share =
    percent === undefined
      ? fraction && { numerator: fraction.numerator, denominator: fraction.denominator ?? 100 }
      : { numerator: percent, denominator: 100 };
  return [{ service, endpoints, protocol, ...(share && { fraction: share }) }];
}
