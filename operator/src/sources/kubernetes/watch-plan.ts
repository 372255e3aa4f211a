import { definitionOf, type KindName } from "../../api/kinds.ts";
import type { InstalledKind } from "./installed-kinds.ts";

/** Which kinds are followed, and what that means for the Gateway API. */
export type WatchPlan = {
  readonly kinds: readonly InstalledKind[];
  /** Whether Gateway API objects are served; if not, whether the operator wanted it so or kinds are missing. */
  readonly gatewayApi: "served" | "disabled" | "missing";
  /** Kinds of the Gateway API that must be installed and are not. */
  readonly missing: readonly KindName[];
};

export type WatchPlanOptions = {
  readonly disableIngress: boolean;
  readonly disableGatewayApi: boolean;
  /** Whether kinds without a namespace are left alone. */
  readonly disableClusterScope: boolean;
};

const requiredKinds: readonly KindName[] = ["GatewayClass", "Gateway", "HTTPRoute"];
const gatewayGroup = "gateway.networking.k8s.io";

/**
 * Decides what is followed. Without one of the kinds that the Gateway API cannot do without, the controller is an
 * Ingress controller and leaves the whole API alone (docs/controller.md, "Ingress-only mode"). ReferenceGrants stay:
 * Ingresses need them, too.
 */
export function planWatches(
  installed: readonly InstalledKind[],
  { disableIngress, disableGatewayApi, disableClusterScope }: WatchPlanOptions,
): WatchPlan {
  const present = new Set(installed.map(({ kind }) => kind));
  const missing = requiredKinds.filter((kind) => !present.has(kind));
  const gatewayApi = disableGatewayApi ? "disabled" : missing.length > 0 ? "missing" : "served";
  const kinds = installed.filter(({ kind }) => {
    if (disableClusterScope && !definitionOf(kind).namespaced) return false;
    if (kind === "Ingress" || kind === "IngressClass") return !disableIngress;
    if (kind === "ReferenceGrant") return true;
    return gatewayApi === "served" || definitionOf(kind).group !== gatewayGroup;
  });
  return { kinds, gatewayApi, missing };
}
