import { memo } from "../../incremental/memo.ts";
import { identityComponent, identityName } from "../names.ts";
import type { PlacedGateway } from "../scopes/placement.ts";
import { planIdentity, type Manifest } from "./plan.ts";

/**
 * Plans one ServiceAccount for each Gateway of the shared proxies. It makes the labels and annotations of
 * `infrastructure` appear in the Gateway's namespace, whichever proxies serve it (GEP-1867).
 */
export function createIdentityPlanner(
  controllerName: string,
): (gateways: readonly PlacedGateway[]) => readonly Manifest[] {
  const plan = memo(({ gateway }: PlacedGateway) =>
    planIdentity(gateway, identityName(gateway), identityComponent, controllerName),
  );
  return (gateways) => gateways.filter(({ placement }) => placement.mode === "shared").map(plan);
}
