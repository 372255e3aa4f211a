/** The addresses that a Gateway asks for. See docs/gateway-api.md, "Addresses". */
import { parseIpAddress } from "@svc-gateway/common/values/ip-address.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { Refusal } from "../condition.ts";
import { quote } from "../text.ts";
import { memo } from "../memo.ts";

export type RequestedAddress = {
  /** The IP address that becomes the cluster IP of the Gateway's Service; undefined: any address will do. */
  readonly pinned: string | undefined;
  /** Host names of which the Service must have each. */
  readonly hostnames: readonly string[];
  /** Why the Gateway is not accepted. */
  readonly refusal: Refusal | undefined;
  /** Why no address can be as it is asked for; the Gateway is accepted, but not programmed. */
  readonly unusable: Refusal | undefined;
};

/** Reads `spec.addresses`. An entry without a value leaves the choice to the cluster. */
export const requestedAddress = memo(({ spec }: ObjectOf<"Gateway">): RequestedAddress => {
  const wanted = (spec.addresses ?? []).map(({ type = "IPAddress", value = "" }) => ({ type, value }));
  const foreign = wanted.find(({ type }) => type !== "IPAddress" && type !== "Hostname");
  const valuesOf = (of: string): readonly string[] => [
    ...new Set(wanted.filter(({ type, value }) => type === of && value !== "").map(({ value }) => value)),
  ];
  const ips = valuesOf("IPAddress");
  const malformed = ips.find((ip) => !parseIpAddress(ip).ok);
  const [pinned] = ips;
  const unusable =
    malformed !== undefined
      ? notUsable(`${quote(malformed)} is not an IP address`)
      : ips.length > 1
        ? notUsable(`A Gateway can have one IP address of its choice, not ${ips.length}`)
        : undefined;
  return {
    pinned: unusable === undefined ? pinned : undefined,
    hostnames: valuesOf("Hostname"),
    refusal:
      foreign === undefined
        ? undefined
        : {
            reason: "UnsupportedAddress",
            message: `Addresses of type ${quote(foreign.type)} are not supported, expected IPAddress or Hostname`,
          },
    unusable,
  };
});

export const notUsable = (message: string): Refusal => ({ reason: "AddressNotUsable", message });
