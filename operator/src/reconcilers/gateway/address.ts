import type { ObjectOf } from "../../api/kinds.ts";
import type { Refusal } from "../../translate/condition.ts";
import { vipName } from "../../translate/gateway/names.ts";
import { pinnedAddress, type VipSettings } from "../../translate/gateway/vip-plan.ts";
import { memo } from "../../translate/memo.ts";
import { createLookup, type World } from "../../world.ts";
import type { Address } from "../ingress-address.ts";

/** Where clients reach a Gateway, or why they do not. The same value for as long as it says the same. */
export type GatewayAddresses = {
  readonly addresses: readonly { readonly type: "IPAddress" | "Hostname"; readonly value: string }[];
  readonly pending: Refusal | undefined;
};

/**
 * With Services of their own, Gateways have those Services' addresses: of the load balancer, IP addresses before host
 * names, or the cluster IP. Without, they have the addresses of the Ingresses.
 */
export function createGatewayAddressReader(
  vips: VipSettings | undefined,
  ingressAddresses: (world: World) => readonly Address[],
): (gateway: ObjectOf<"Gateway">, world: World) => GatewayAddresses {
  const ofIngresses = memo((addresses: readonly Address[]) => asGatewayAddresses(addresses));
  if (vips === undefined) return (_, world) => ofIngresses(ingressAddresses(world));
  const ofService = memo((service: ObjectOf<"Service">) => asGatewayAddresses(addressesOf(service)));
  return (gateway, world) => {
    const service = createLookup(world)("Service", vips.namespace, vipName(gateway));
    if (service === undefined) return notAssigned;
    const wanted = pinnedAddress(gateway);
    return wanted === undefined || service.spec?.clusterIP === wanted ? ofService(service) : notUsable;
  };
}

const notAssigned: GatewayAddresses = {
  addresses: [],
  pending: { reason: "AddressNotAssigned", message: "No address has been assigned yet" },
};

const notUsable: GatewayAddresses = {
  addresses: [],
  pending: { reason: "AddressNotUsable", message: "The requested address is not to be had" },
};

function asGatewayAddresses(addresses: readonly Address[]): GatewayAddresses {
  if (addresses.length === 0) return notAssigned;
  const ips = addresses.flatMap(({ ip }) =>
    ip === undefined ? [] : [{ type: "IPAddress", value: ip } as const],
  );
  const names = addresses.flatMap(({ hostname }) =>
    hostname === undefined ? [] : [{ type: "Hostname", value: hostname } as const],
  );
  return { addresses: [...ips, ...names], pending: undefined };
}

function addressesOf({ spec, status }: ObjectOf<"Service">): readonly Address[] {
  if (spec?.type === "LoadBalancer") return status?.loadBalancer?.ingress ?? [];
  return (spec?.clusterIPs ?? []).filter((ip) => ip !== "None").map((ip) => ({ ip }));
}
