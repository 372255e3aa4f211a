/** Which addresses of a Service are those that a Gateway asks for (GEP-5093). See docs/gateway-api.md, "Routability". */
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import type { DesiredCondition } from "../../translate/condition.ts";
import {
  clusterRoutability,
  sentinelRoutability,
  type AddressRequest,
  type RequestedAddress,
} from "../../translate/gateway/addresses.ts";

/** An address as a status reports it; without `routability` when the installed definitions do not have the field. */
export type StatusAddress = {
  readonly type: "IPAddress" | "Hostname";
  readonly value: string;
  readonly routability?: string;
};

/** An address that clients can use. */
export type UsableAddress = Required<StatusAddress>;

export type Assignment = {
  readonly addresses: readonly UsableAddress[];
  /** The requests without an address. */
  readonly unsatisfied: readonly AddressRequest[];
};

/**
 * Gives each request an address of its own, those first that fewer addresses satisfy. A request for any IP address may have
 * a host name where the load balancer gives nothing else.
 */
export function assignAddresses(
  { requests }: RequestedAddress,
  usable: readonly UsableAddress[],
): Assignment {
  const free = [...usable];
  const addresses: UsableAddress[] = [];
  const unsatisfied: AddressRequest[] = [];
  for (const request of requests.toSorted((a, b) => strictness(b) - strictness(a))) {
    const exact = free.findIndex((address) => address.type === request.type && fits(request, address));
    const isAny = request.value === "" && request.routability !== clusterRoutability;
    const index = exact === -1 && isAny ? free.findIndex((address) => fits(request, address)) : exact;
    const [given] = index === -1 ? [] : free.splice(index, 1);
    if (given === undefined) unsatisfied.push(request);
    else if (request.routability !== sentinelRoutability) addresses.push(given);
    else addresses.push({ ...given, routability: sentinelRoutability });
  }
  return { addresses, unsatisfied };
}

const strictness = ({ value, routability }: AddressRequest): number =>
  (value === "" ? 0 : 2) + (routability === clusterRoutability ? 1 : 0);

function fits({ value, routability }: AddressRequest, address: UsableAddress): boolean {
  if (routability === clusterRoutability && address.routability !== clusterRoutability) return false;
  return value === "" || value === address.value || canonicalIp(value) === canonicalIp(address.value);
}

/** The condition `AddressesAssigned` of a Gateway that has some or all of the addresses that it requests. */
export function assignmentCondition(unsatisfied: readonly AddressRequest[]): DesiredCondition {
  return unsatisfied.length === 0
    ? {
        type: "AddressesAssigned",
        status: "True",
        reason: "AddressesAssigned",
        message: "All addresses are assigned",
      }
    : {
        type: "AddressesAssigned",
        status: "False",
        reason: "PartiallyAssigned",
        message: `No address has been assigned yet for ${unsatisfied.map(describeRequest).join(", ")}`,
      };
}

/** The condition of a Gateway that will have no address. */
export const noAssignment = (message: string): DesiredCondition => ({
  type: "AddressesAssigned",
  status: "False",
  reason: "NotAssigned",
  message,
});

const describeRequest = ({ type, value, routability }: AddressRequest): string =>
  [type, value, routability].filter((text) => text !== "").join(" ");
