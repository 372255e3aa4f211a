/** The rest of an Ingress where the snapshot would become too large. See docs/routing.md, "Size". */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { unresolvedBackend } from "../backends/service-port.ts";
import type { LeftOutObject } from "../size/object-size.ts";
import type { HostClaim } from "./claims.ts";
import { anyPath } from "./path.ts";
import { closeClaim, type IngressPlan } from "./plan.ts";

/** The plan of an Ingress of which something is left out; everything that only its service needs is left out at once. */
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

/** The host answers 503 where no other Ingress has something: it must not fall to what serves every host. */
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
