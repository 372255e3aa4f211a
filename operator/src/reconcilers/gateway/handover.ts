import type { Fleet } from "../../discovery/fleet.ts";
import type { ProvisionedObjects } from "../../sources/kubernetes/provisioned-objects.ts";
import type { ConditionReason } from "../../translate/condition.ts";
import { dedicatedName } from "../../translate/gateway/names.ts";
import type { GatewayStatus } from "../../translate/gateway/status/object-status.ts";
import type { World } from "../../world.ts";
import type { AddressesOf } from "./address.ts";
import { notProgrammed } from "./not-programmed.ts";
import type { Notes } from "./notes.ts";

/** Decides when a Gateway may move from its present proxies to those that are intended to serve it. */
export type Handover = {
  /** The reason why the dedicated proxies of a Gateway are not ready; undefined once one is Ready and serves it. */
  notReady(status: GatewayStatus): ConditionReason | undefined;
  /** Whether the intended proxies serve the Gateway, and it has an address there. */
  isDone(status: GatewayStatus, world: World): boolean;
};

export type HandoverOptions = {
  readonly fleet: Pick<Fleet, "isProgrammed">;
  readonly provisioned: Pick<ProvisionedObjects, "get">;
  readonly addressesOf: AddressesOf;
  /** The reasons why the objects of Gateways could not be created, by Gateway (`namespace/name`). */
  readonly failures: Pick<Notes<string>, "get">;
};

/** Creates the handover. See docs/dedicated-gateways.md, "Change of mode". */
export function createHandover({ fleet, provisioned, addressesOf, failures }: HandoverOptions): Handover {
  const notReady: Handover["notReady"] = ({ object, bound, listeners, scope }) => {
    const { namespace, name } = object.metadata;
    const failure = failures.get(`${namespace}/${name}`);
    if (failure !== undefined) return provisioning(failure);
    const deployment = provisioned.get({ kind: "Deployment", namespace, name: dedicatedName(object) });
    if (deployment === undefined) return provisioning("The Deployment does not exist yet");
    if ((deployment.status?.readyReplicas ?? 0) < 1)
      return provisioning("No pod of the Deployment is ready yet");
    // When a Gateway moves back to the shared proxies, its dedicated ones still serve it.
    if (scope.kind === "shared") return undefined;
    return notProgrammed({ bound, listeners, scope }, fleet) === undefined
      ? undefined
      : provisioning("Not all dedicated proxies serve the latest configuration yet");
  };
  return {
    notReady,
    isDone: (status, world) =>
      notProgrammed(status, fleet) === undefined &&
      (status.scope.kind === "shared" || notReady(status) === undefined) &&
      addressesOf.target(status, world).addresses.length > 0,
  };
}

const provisioning = (message: string): ConditionReason => ({ reason: "Provisioning", message });
