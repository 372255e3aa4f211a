import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { notUsable, requestedAddress } from "../../translate/gateway/addresses.ts";
import { dedicatedName, vipName } from "../../translate/gateway/names.ts";
import type { GatewayStatus } from "../../translate/gateway/status.ts";
import type { VipSettings } from "../../translate/gateway/vip-plan.ts";
import type { Refusal } from "../../translate/condition.ts";
import { memo } from "../../translate/memo.ts";
import { createLookup, type World } from "../../world.ts";
import type { Address } from "../ingress-address.ts";
import type { Notes } from "./notes.ts";

/** Where clients reach a Gateway, or why they do not. The same value for as long as it says the same. */
export type GatewayAddresses = {
  readonly addresses: readonly { readonly type: "IPAddress" | "Hostname"; readonly value: string }[];
  /** What is missing still. */
  readonly pending: Refusal | undefined;
  /** Why it will never have what it asks for. */
  readonly refusal: Refusal | undefined;
};

type Reader = (
  status: Pick<GatewayStatus, "object" | "placement" | "scope">,
  world: World,
) => GatewayAddresses;

export type AddressesOf = {
  /** Where clients reach the Gateway now. */
  readonly present: Reader;
  /** Where they will, once the proxies that should have it serve it. */
  readonly target: Reader;
};

export type GatewayAddressOptions = {
  /** The Services of Gateways of the shared proxies; undefined: those have the addresses of the Ingresses. */
  readonly vips: VipSettings | undefined;
  readonly ingressAddresses: (world: World) => readonly Address[];
  /** The addresses of the nodes; the same value for as long as they are the same. */
  readonly nodeAddresses: () => readonly string[];
  /** What the API server said when a Gateway (`namespace/name`) asked for an address that it does not grant. */
  readonly refusals: Pick<Notes<string>, "get">;
};

/** See docs/gateway-api.md, "Addresses". */
export function createGatewayAddressReader(options: GatewayAddressOptions): AddressesOf {
  const { vips, ingressAddresses, nodeAddresses, refusals } = options;
  const ofIngresses = memo((addresses: readonly Address[]) => asGatewayAddresses(addresses));
  const ofNodes = memo((ips: readonly string[]) => asGatewayAddresses(ips.map((ip) => ({ ip }))));
  const ofService = memo((service: ObjectOf<"Service">) => asGatewayAddresses(addressesOf(service)));
  const unusable = memo((refusal: Refusal): GatewayAddresses => ({
    ...notAssigned,
    pending: undefined,
    refusal,
  }));
  const ofMessage = new Map<string, GatewayAddresses>();
  const refusedBecause = (message: string): GatewayAddresses => {
    const known = ofMessage.get(message) ?? unusable(notUsable(message));
    // Messages name addresses, of which there may be any number in the long run.
    if (ofMessage.size > 1_000) ofMessage.clear();
    ofMessage.set(message, known);
    return known;
  };

  const read = (gateway: ObjectOf<"Gateway">, isOwn: boolean, world: World): GatewayAddresses => {
    const requested = requestedAddress(gateway);
    if (requested.unusable !== undefined) return unusable(requested.unusable);
    if (!isOwn && vips === undefined) return ofIngresses(ingressAddresses(world));
    const { namespace, name } = gateway.metadata;
    const refused = refusals.get(`${namespace}/${name}`);
    if (refused !== undefined) return refusedBecause(refused);
    const service = isOwn
      ? createLookup(world)("Service", namespace, dedicatedName(gateway))
      : createLookup(world)("Service", vips?.namespace ?? "", vipName(gateway));
    if (service === undefined || !hasPinned(service, requested.pinned)) return notAssigned;
    const found = service.spec?.type === "NodePort" ? ofNodes(nodeAddresses()) : ofService(service);
    const missing = requested.hostnames.find((host) => found.addresses.every(({ value }) => value !== host));
    if (missing === undefined || found.addresses.length === 0) return found;
    return refusedBecause(`The load balancer has not given the host name ${missing}`);
  };

  return {
    present: ({ object, placement: { mode, inShared, inDedicated } }, world) =>
      read(object, mode === "shared" ? inDedicated : inDedicated && !inShared, world),
    target: ({ object, scope }, world) => read(object, scope.kind === "dedicated", world),
  };
}

const hasPinned = ({ spec }: ObjectOf<"Service">, pinned: string | undefined): boolean =>
  pinned === undefined || canonicalIp(spec?.clusterIP ?? "") === canonicalIp(pinned);

const notAssigned: GatewayAddresses = {
  addresses: [],
  pending: { reason: "AddressNotAssigned", message: "No address has been assigned yet" },
  refusal: undefined,
};

/** As many as a status can hold. */
const maxAddresses = 16;

function asGatewayAddresses(addresses: readonly Address[]): GatewayAddresses {
  if (addresses.length === 0) return notAssigned;
  const ips = addresses.flatMap(({ ip }) =>
    ip === undefined ? [] : [{ type: "IPAddress", value: ip } as const],
  );
  const names = addresses.flatMap(({ hostname }) =>
    hostname === undefined ? [] : [{ type: "Hostname", value: hostname } as const],
  );
  return { addresses: [...ips, ...names].slice(0, maxAddresses), pending: undefined, refusal: undefined };
}

function addressesOf({ spec, status }: ObjectOf<"Service">): readonly Address[] {
  if (spec?.type === "LoadBalancer") return status?.loadBalancer?.ingress ?? [];
  return (spec?.clusterIPs ?? []).filter((ip) => ip !== "None").map((ip) => ({ ip }));
}
