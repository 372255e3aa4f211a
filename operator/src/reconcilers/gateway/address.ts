import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { DesiredCondition, ConditionReason } from "../../translate/condition.ts";
import {
  addressNotAssigned,
  clusterRoutability,
  notUsable,
  requestedAddress,
  type RequestedAddress,
} from "../../translate/gateway/addresses.ts";
import {
  componentLabel,
  dedicatedName,
  gatewayNameLabel,
  gatewayNamespaceLabel,
  ownLabels,
  vipComponent,
  vipName,
} from "../../translate/gateway/names.ts";
import type { GatewayStatus } from "../../translate/gateway/status/object-status.ts";
import { memo, memo2 } from "../../translate/incremental/memo.ts";
import type { VipSettings } from "../../translate/settings.ts";
import { createLookup, type World } from "../../world.ts";
import type { Address } from "../ingress-address.ts";
import {
  assignAddresses,
  assignmentCondition,
  noAssignment,
  type StatusAddress,
  type UsableAddress,
} from "./address-assignment.ts";
import type { Notes } from "./notes.ts";

/** The addresses of a Gateway, or the reason why it has none. The same value while nothing changes. */
export type GatewayAddresses = {
  readonly addresses: readonly StatusAddress[];
  /**
   * The condition `AddressesAssigned`; undefined if it is not known yet or not supported by the installed definitions.
   */
  readonly assignment: DesiredCondition | undefined;
  /** The reason why an address is still missing. */
  readonly pending: ConditionReason | undefined;
  /** The reason why the request of the Gateway can never be fulfilled. */
  readonly refusal: ConditionReason | undefined;
};

type Reader = (
  status: Pick<GatewayStatus, "object" | "placement" | "scope">,
  world: World,
) => GatewayAddresses;

export type AddressesOf = {
  /** The addresses at which clients reach the Gateway now. */
  readonly present: Reader;
  /** The addresses after the handover to the proxies that are intended to serve the Gateway. */
  readonly target: Reader;
};

export type GatewayAddressOptions = {
  /**
   * The settings for Services of Gateways on the shared proxies; undefined if these have the addresses of the
   * Ingresses.
   */
  readonly vips: VipSettings | undefined;
  readonly ingressAddresses: (world: World) => readonly Address[];
  /** The addresses of the nodes; the same list while nothing changes. */
  readonly nodeAddresses: () => readonly string[];
  /** The API server's reason for refusing an address that a Gateway (`namespace/name`) requests. */
  readonly refusals: Pick<Notes<string>, "get">;
  /** Whether the definition of Gateways has `routability`. */
  readonly hasRoutability: () => boolean;
};

/** Creates the readers of Gateway addresses. See docs/gateway-api.md, "Addresses". */
export function createGatewayAddressReader(options: GatewayAddressOptions): AddressesOf {
  const { vips, ingressAddresses, nodeAddresses, refusals, hasRoutability } = options;
  const simple = memoizedAddresses(false);
  const routed = memoizedAddresses(true);

  const read = (gateway: ObjectOf<"Gateway">, isOwn: boolean, world: World): GatewayAddresses => {
    const requested = requestedAddress(gateway);
    const { ofIngresses, ofService, unusable, refusedBecause } = hasRoutability() ? routed : simple;
    if (requested.unusable !== undefined) return unusable(requested.unusable);
    if (!isOwn && vips === undefined) return ofIngresses(ingressAddresses(world), requested);
    const { namespace, name } = gateway.metadata;
    const refused = refusals.get(`${namespace}/${name}`);
    if (refused !== undefined) return refusedBecause(requested)(refused);
    const service = isOwn
      ? createLookup(world)("Service", namespace, dedicatedName(gateway))
      : createLookup(world)("Service", vips?.namespace ?? "", vipName(gateway));
    const isMadeFor = isOwn ? isOwnedBy : isVipOf;
    if (service === undefined || !isMadeFor(gateway, service) || !hasPinned(service, requested.pinned))
      return notAssigned;
    const nodes = service.spec?.type === "NodePort" ? nodeAddresses() : noNodes;
    return ofService(service)(nodes, requested);
  };

  return {
    present: ({ object, placement: { mode, inShared, inDedicated } }, world) =>
      read(object, mode === "shared" ? inDedicated : inDedicated && !inShared, world),
    target: ({ object, scope }, world) => read(object, scope.kind === "dedicated", world),
  };
}

/** Whether a Service is owned by exactly this Gateway, not by an earlier one of the same name. */
const isOwnedBy = ({ metadata: { uid } }: ObjectOf<"Gateway">, { metadata }: ObjectOf<"Service">): boolean =>
  metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;

/** Whether a Service was created for this Gateway of the shared proxies, as identified by its labels. */
const isVipOf = (gateway: ObjectOf<"Gateway">, { metadata: { labels } }: ObjectOf<"Service">): boolean => {
  const wanted = ownLabels(gateway, vipComponent);
  return identifyingLabels.every((label) => labels?.[label] === wanted[label]);
};

const identifyingLabels = [componentLabel, gatewayNameLabel, gatewayNamespaceLabel];

const hasPinned = ({ spec }: ObjectOf<"Service">, pinned: string | undefined): boolean =>
  pinned === undefined || canonicalIp(spec?.clusterIP ?? "") === canonicalIp(pinned);

const noNodes: readonly string[] = [];

/**
 * Memoized functions that return the same value for the same input. With `isRouted`, each request gets one address,
 * with its routability.
 */
function memoizedAddresses(isRouted: boolean) {
  const assign = (requested: RequestedAddress, usable: readonly UsableAddress[]): GatewayAddresses => {
    if (usable.length === 0) return notAssigned;
    const missing = missingHostname(requested, usable);
    if (missing !== undefined) {
      return refusedBecause(requested)(`The load balancer has not assigned the hostname ${missing}`);
    }
    return isRouted ? assigned(requested, usable) : plain(usable);
  };
  const unusable = memo((refusal: ConditionReason): GatewayAddresses => ({
    addresses: [],
    assignment: isRouted ? noAssignment(refusal.message) : undefined,
    pending: undefined,
    refusal,
  }));
  /** A refused request for a cluster IP counts as not assigned (GEP-5093). */
  const refusedBecause = memo(({ requests }: RequestedAddress) => {
    const isCluster = requests.some(({ routability }) => routability === clusterRoutability);
    const refuse = isCluster ? addressNotAssigned : notUsable;
    let last: { readonly message: string; readonly addresses: GatewayAddresses } | undefined;
    return (message: string): GatewayAddresses => {
      if (last?.message !== message) last = { message, addresses: unusable(refuse(message)) };
      return last.addresses;
    };
  });
  return {
    ofIngresses: memo2((addresses: readonly Address[], requested: RequestedAddress) =>
      assign(requested, asUsable(addresses, "")),
    ),
    ofService: memo((service: ObjectOf<"Service">) =>
      memo2((nodes: readonly string[], requested: RequestedAddress) =>
        assign(requested, usableAddresses(service, nodes, requested)),
      ),
    ),
    unusable,
    refusedBecause,
  };
}

const notAssigned: GatewayAddresses = {
  addresses: [],
  assignment: undefined,
  pending: { reason: "AddressNotAssigned", message: "No address has been assigned yet" },
  refusal: undefined,
};

/** The largest number of addresses in a status. */
const maxAddresses = 16;

const plain = (usable: readonly UsableAddress[]): GatewayAddresses => ({
  addresses: usable.slice(0, maxAddresses).map(({ type, value }) => ({ type, value })),
  assignment: undefined,
  pending: undefined,
  refusal: undefined,
});

function assigned(requested: RequestedAddress, usable: readonly UsableAddress[]): GatewayAddresses {
  const { addresses, unsatisfied } =
    requested.requests.length === 0
      ? { addresses: usable, unsatisfied: [] }
      : assignAddresses(requested, usable);
  if (addresses.length === 0) return notAssigned;
  return {
    addresses: addresses.slice(0, maxAddresses),
    assignment: assignmentCondition(unsatisfied),
    pending: undefined,
    refusal: undefined,
  };
}

/** Converts addresses, IP addresses first. */
function asUsable(addresses: readonly Address[], routability: string): readonly UsableAddress[] {
  const ips = addresses.flatMap(({ ip }) =>
    ip === undefined ? [] : [{ type: "IPAddress", value: ip, routability } as const],
  );
  const names = addresses.flatMap(({ hostname }) =>
    hostname === undefined ? [] : [{ type: "Hostname", value: hostname, routability } as const],
  );
  return [...ips, ...names];
}

/**
 * Returns a requested host name that the load balancer has not assigned. A load balancer without any address is not
 * ready yet.
 */
function missingHostname(
  { hostnames, requests }: RequestedAddress,
  usable: readonly UsableAddress[],
): string | undefined {
  const isInside = ({ routability }: { readonly routability: string }): boolean =>
    routability === clusterRoutability;
  if (usable.every(isInside) && requests.some(isInside)) return undefined;
  return hostnames.find((host) => usable.every(({ value }) => value !== host));
}

/**
 * The addresses of a Service that clients can use. For a Service that is reached from outside, cluster IPs count only
 * if they are requested.
 */
function usableAddresses(
  { spec, status }: ObjectOf<"Service">,
  nodes: readonly string[],
  { requests }: RequestedAddress,
): readonly UsableAddress[] {
  const clusterIps = (spec?.clusterIPs ?? []).filter((ip) => ip !== "None").map((ip) => ({ ip }));
  const inside = asUsable(clusterIps, clusterRoutability);
  if (spec?.type !== "LoadBalancer" && spec?.type !== "NodePort") return inside;
  const outside =
    spec.type === "LoadBalancer" ? (status?.loadBalancer?.ingress ?? []) : nodes.map((ip) => ({ ip }));
  const isAsked = requests.some(({ routability }) => routability === clusterRoutability);
  return [...asUsable(outside, ""), ...(isAsked ? inside : [])];
}
