/** Assigns addresses of a Service to the requests of a Gateway (GEP-5093). See docs/gateway-api.md, "Routability". */
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import type { DesiredCondition } from "../../translate/condition.ts";
import {
  clusterRoutability,
  sentinelRoutability,
  type AddressRequest,
  type RequestedAddress,
} from "../../translate/gateway/addresses.ts";

/** An address in a status; `routability` is omitted if the installed definitions do not have the field. */
export type StatusAddress = {
  readonly type: "IPAddress" | "Hostname";
  readonly value: string;
  readonly routability?: string;
};

/** An address that clients can use. */
export type UsableAddress = Required<StatusAddress>;

export type Assignment = {
  readonly addresses: readonly UsableAddress[];
  /** The requests for which no address is available. */
  readonly unsatisfied: readonly AddressRequest[];
};

/**
 * Assigns a separate address to each request; requests that fewer addresses satisfy come first. A request for any IP
 * address can get a host name if the load balancer provides nothing else.
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

/** The condition `AddressesAssigned` of a Gateway that has some or all of the requested addresses. */
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

/** The condition of a Gateway that will not get an address. */
export const noAssignment = (message: string): DesiredCondition => ({
  type: "AddressesAssigned",
  status: "False",
  reason: "NotAssigned",
  message,
});

const describeRequest = ({ type, value, routability }: AddressRequest): string =>
  [type, value, routability].filter((text) => text !== "").join(" ");
