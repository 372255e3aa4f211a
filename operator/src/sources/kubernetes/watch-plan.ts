import { definitionOf, type KindName } from "../../api/kinds.ts";
import type { InstalledKind } from "./installed-kinds.ts";

/** The kinds that are followed, and the resulting state of the Gateway API. */
export type WatchPlan = {
  readonly kinds: readonly InstalledKind[];
  /** Whether Gateway API objects are served, and if not, whether the settings disable them or kinds are missing. */
  readonly gatewayApi: "served" | "disabled" | "missing";
  /** Required kinds of the Gateway API that are not installed. */
  readonly missing: readonly KindName[];
};

export type WatchPlanOptions = {
  readonly disableIngress: boolean;
  readonly disableGatewayApi: boolean;
  /** Whether cluster-scoped kinds are not followed. */
  readonly disableClusterScope: boolean;
};

const requiredKinds: readonly KindName[] = ["GatewayClass", "Gateway", "HTTPRoute"];
const gatewayGroup = "gateway.networking.k8s.io";

/**
 * Decides which kinds are followed. If a kind that the Gateway API requires is missing, the controller is an Ingress
 * controller and ignores the whole API (docs/controller.md, "Ingress-only mode"). ReferenceGrants are still followed,
 * because Ingresses need them, too.
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
