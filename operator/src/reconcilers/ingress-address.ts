import { parseIpAddress } from "@svc-gateway/common/values/ip-address.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../api/kinds.ts";
import { createLookup, type World } from "../world.ts";

/** An address at which clients reach the proxies: an entry of `status.loadBalancer.ingress`. */
export type Address = { readonly hostname?: string; readonly ip?: string };

export type AddressOptions = {
  readonly statusAddress: string | undefined;
  readonly sharedProxyService: NamespacedName;
};

/**
 * Returns the addresses of the Ingresses of this controller: the one from the flag, or else those that the cluster has
 * assigned to the Service of the shared proxies, if any. The list keeps its identity while nothing changes.
 */
export function createAddressReader(options: AddressOptions): (world: World) => readonly Address[] {
  const { statusAddress, sharedProxyService } = options;
  if (statusAddress !== undefined) {
    const fixed = [parseIpAddress(statusAddress).ok ? { ip: statusAddress } : { hostname: statusAddress }];
    return () => fixed;
  }
  const known = new WeakMap<ObjectOf<"Service">, readonly Address[]>();
  return (world) => {
    const { namespace, name } = sharedProxyService;
    const service = createLookup(world)("Service", namespace, name);
    if (service === undefined) return none;
    const addresses = known.get(service) ?? addressesOf(service);
    known.set(service, addresses);
    return addresses;
  };
}

const none: readonly Address[] = [];

const addressesOf = ({ status }: ObjectOf<"Service">): readonly Address[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ hostname, ip }) => {
    const address = { ...(hostname && { hostname }), ...(ip && { ip }) };
    return Object.keys(address).length === 0 ? [] : [address];
  });
