/** The remainder of an Ingress that is left out of a snapshot. See docs/routing.md, "Size". */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { unresolvedBackend } from "../backends/service-port.ts";
import type { LeftOutObject } from "../size/object-size.ts";
import type { HostClaim } from "./claims.ts";
import { anyPath } from "./path.ts";
import { closeClaim, type IngressPlan } from "./plan.ts";

/**
 * Reduces the plan of an Ingress that is left out. Everything that only its service needs is omitted at every level.
 */
export const leaveOut = <P extends IngressPlan>(plan: P, { level }: LeftOutObject): P => ({
  ...plan,
  claims: claimsAt(level, plan.claims),
  canaries: [],
  endpointRefs: [],
  resources: [],
  keySets: [],
});

function claimsAt(level: LeftOutObject["level"], claims: readonly HostClaim[]): readonly HostClaim[] {
  switch (level) {
    case 1:
      return claims.map(closeClaim);
    case 2:
      return claims.map(closeHost);
    case 3:
      return [];
  }
}

/**
 * Makes the host answer 503 unless another Ingress has a route, so that requests never fall through to the
 * catch-all host.
 */
function closeHost(claim: HostClaim): HostClaim {
  const { rest: _, ...left } = claim;
  const { owner, age } = claim;
  const route: Route = {
    backends: [unresolvedBackend("")],
    fallback: true,
    id: `ingress/${age.key}:left-out`,
    match: { path: anyPath },
    source: { kind: "Ingress", name: owner.name, namespace: owner.namespace ?? "" },
  };
  return {
    ...left,
    routes: [],
    fallback: { route, field: "spec.rules", written: anyPath.value },
    isLast: true,
  };
}
