/** The addresses that a Gateway requests. See docs/gateway-api.md, "Addresses". */
import { parseIpAddress } from "@svc-gateway/common/values/ip-address.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { reasonAt, type ConditionReason } from "../condition.ts";
import { memo } from "../incremental/memo.ts";
import { quote } from "../text.ts";

/** The routability of a cluster IP (GEP-5093). */
export const clusterRoutability = "Cluster";
/** The routability that the conformance suite uses. It requires nothing of the address. */
export const sentinelRoutability = "testing.x-k8s.io/sentinel";

/** An entry of `spec.addresses` with its defaults: type IPAddress, no value, no routability. */
export type AddressRequest = {
  readonly type: string;
  readonly value: string;
  readonly routability: string;
};

export type RequestedAddress = {
  readonly requests: readonly AddressRequest[];
  /**
   * Whether the Service is of type ClusterIP, regardless of its configured type: every requested address can be a
   * cluster IP, or an IP address is requested without routability Cluster.
   */
  readonly isInternal: boolean;
  /** The IP address to request as the cluster IP of the Gateway's Service; undefined if any address will do. */
  readonly pinned: string | undefined;
  /** The host names that the Service must all have. */
  readonly hostnames: readonly string[];
  /** The reason why the Gateway is not accepted; undefined if it is. */
  readonly refusal: ConditionReason | undefined;
  /** The reason why the requested addresses cannot be assigned. The Gateway is accepted, but not programmed. */
  readonly unusable: ConditionReason | undefined;
};

/** Reads `spec.addresses`. An entry without a value leaves the choice to the cluster. */
export const requestedAddress = memo(({ spec }: ObjectOf<"Gateway">): RequestedAddress => {
  const wanted = (spec.addresses ?? []).map(
    ({ type = "IPAddress", value = "", routability = "" }): AddressRequest => ({ type, value, routability }),
  );
  const foreign = wanted.findIndex(({ type }) => type !== "IPAddress" && type !== "Hostname");
  const valuesOf = (of: string): readonly string[] => [
    ...new Set(wanted.filter(({ type, value }) => type === of && value !== "").map(({ value }) => value)),
  ];
  const ips = valuesOf("IPAddress");
  const hostnames = valuesOf("Hostname");
  const malformed = ips.find((ip) => !parseIpAddress(ip).ok);
  const [pinned] = ips;
  const unroutable = wanted.find(
    ({ type, routability }) =>
      routability !== "" &&
      routability !== sentinelRoutability &&
      (routability !== clusterRoutability || type !== "IPAddress"),
  );
  const unusable =
    unroutable !== undefined
      ? addressNotAssigned(
          `Routability ${quote(unroutable.routability)} of an address of type ${unroutable.type} is not supported, expected ${clusterRoutability} for type IPAddress, or no routability`,
        )
      : malformed !== undefined
        ? notUsable(`${quote(malformed)} is not an IP address`)
        : ips.length > 1
          ? notUsable(`A Gateway can request one IP address, not ${ips.length}`)
          : undefined;
  return {
    requests: wanted,
    isInternal:
      (wanted.length > 0 && wanted.every(isInside)) ||
      (pinned !== undefined &&
        !wanted.some(({ value, routability }) => value === pinned && routability === clusterRoutability)),
    pinned: unusable === undefined ? pinned : undefined,
    hostnames,
    refusal:
      foreign < 0
        ? undefined
        : reasonAt(`spec.addresses[${foreign}]`, {
            reason: "UnsupportedAddress",
            message: `Addresses of type ${quote(wanted[foreign]?.type ?? "")} are not supported, expected IPAddress or Hostname`,
          }),
    unusable,
  };
});

const isInside = ({ type, value, routability }: AddressRequest): boolean =>
  routability === clusterRoutability || (type === "IPAddress" && value !== "");

export const notUsable = (message: string): ConditionReason => ({ reason: "AddressNotUsable", message });

export const addressNotAssigned = (message: string): ConditionReason => ({
  reason: "AddressNotAssigned",
  message,
});
