import type { KindName } from "../api/kinds.ts";
import type { Fleet } from "../discovery/fleet.ts";
import type { ApiClient } from "../sources/kubernetes/api-client.ts";
import type { VipSettings } from "../translate/gateway/vip-plan.ts";
import { createGatewayAddressReader } from "./gateway/address.ts";
import { gatewayClassReconciler } from "./gateway/gateway-class.ts";
import { gatewayReconciler } from "./gateway/gateway.ts";
import { listenerSetReconciler } from "./gateway/listener-set.ts";
import { routeReconciler } from "./gateway/route.ts";
import { vipReconciler } from "./gateway/vip.ts";
import { createAddressReader } from "./ingress-address.ts";
import { sessionKeyReconciler, type SessionKeyOptions } from "./session-key.ts";
import { ingressReconciler, type IngressReconcilerOptions } from "./ingress.ts";
import type { Reconciler } from "./reconciler.ts";
import { svcBackendPolicyReconciler } from "./svc-backend-policy.ts";

export type ReconcilersOptions = IngressReconcilerOptions &
  SessionKeyOptions & {
    /** The name that we sign our entries of shared statuses with. */
    readonly controllerName: string;
    readonly fleet: Pick<Fleet, "isProgrammed">;
    readonly client: ApiClient;
    /** The kinds that the cluster has. */
    readonly installed: ReadonlySet<KindName>;
    /** The Services of Gateways; undefined: they have none. */
    readonly vips: VipSettings | undefined;
  };

/** Every reconciler of the controller, one per kind. */
export function createReconcilers(options: ReconcilersOptions): readonly Reconciler[] {
  const { controllerName, fleet, client, installed, vips } = options;
  const addressesOf = createGatewayAddressReader(vips, createAddressReader(options));
  return [
    ingressReconciler(options),
    gatewayClassReconciler(installed),
    gatewayReconciler({ addressesOf, fleet }),
    listenerSetReconciler({ fleet }),
    routeReconciler("HTTPRoute", controllerName),
    routeReconciler("GRPCRoute", controllerName),
    routeReconciler("TLSRoute", controllerName),
    routeReconciler("TCPRoute", controllerName),
    routeReconciler("UDPRoute", controllerName),
    svcBackendPolicyReconciler(options),
    sessionKeyReconciler(options),
    ...(vips === undefined ? [] : [vipReconciler(client, vips.namespace)]),
  ];
}
