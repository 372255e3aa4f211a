/** Finds the Gateways that use a Service. They are the ancestors in the status of its BackendTLSPolicy. */
import type { ObjectOf } from "../../api/kinds.ts";
import type { GatewaysByService } from "../backends/tls-policies.ts";
import { filterFindingsOf, listenersOf, type PlannedGateway } from "./listeners/gateways.ts";
import type { AttachedRoute } from "./routes/attached-routes.ts";
import type { CommonPlan } from "./routes/route-plan.ts";

/** A route with the listeners that it is attached to. */
export type ReferringRoute = Pick<AttachedRoute<CommonPlan>, "listeners" | "plan">;

/** Returns the Gateways that send traffic to each Service: through a route, or to authorize their requests. */
export function gatewaysByService(
  gateways: readonly PlannedGateway[],
  routes: readonly ReferringRoute[],
): GatewaysByService {
  const gatewayOf = new Map<string, ObjectOf<"Gateway">>();
  for (const planned of gateways) {
    for (const { id } of listenersOf(planned)) gatewayOf.set(id, planned.gateway);
  }
  const result = new Map<string, Set<ObjectOf<"Gateway">>>();
  const usersOf = (service: string): Set<ObjectOf<"Gateway">> => {
    const users = result.get(service) ?? new Set();
    result.set(service, users);
    return users;
  };
  for (const planned of gateways) {
    const endpointRefs = [
      ...(planned.guard?.endpointRefs ?? []),
      ...filterFindingsOf(planned).flatMap((found) => found.endpointRefs),
    ];
    for (const { key } of endpointRefs) usersOf(key).add(planned.gateway);
  }
  for (const { plan, listeners } of routes) {
    for (const { key } of plan.endpointRefs) {
      const users = usersOf(key);
      for (const id of listeners) {
        const gateway = gatewayOf.get(id);
        if (gateway !== undefined) users.add(gateway);
      }
    }
  }
  return result;
}
