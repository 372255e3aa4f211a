/** Gateways with the policies that are attached to them. */
import { nameOf, refOf } from "../../../api/object.ts";
import type { World } from "../../../world.ts";
import type { Diagnostic } from "../../finding.ts";
import type { Translation } from "../../translation.ts";
import type { PlannedGateway } from "../listeners/gateways.ts";
import type { Guard } from "../model.ts";
import { createClientTrafficReader, type PortSpaceOf } from "./client-traffic-policies.ts";
import { createExternalAuthAttacher } from "./external-auths.ts";

export type WithPolicies<G extends PlannedGateway> = {
  readonly gateways: readonly G[];
  readonly attachments: Translation["gatewayPolicies"];
  readonly diagnostics: readonly Diagnostic[];
};

type Known<G> = { readonly guard: Guard | undefined; readonly form: string; readonly result: G };

/**
 * Adds to each Gateway its policies. A Gateway without policies is returned unchanged; the others are the same
 * value until their policies change.
 */
export function createPolicyAttacher<G extends PlannedGateway>(
  spaceOf: PortSpaceOf<G>,
  isWatched: (namespace: string) => boolean,
): (world: World, gateways: readonly G[]) => WithPolicies<G> {
  const attachExternalAuths = createExternalAuthAttacher(isWatched);
  const readClientTraffic = createClientTrafficReader(spaceOf);
  const known = new WeakMap<G, Known<G>>();
  return (world, gateways) => {
    const { guards, ...auths } = attachExternalAuths(world, gateways);
    const traffic = readClientTraffic(world, gateways);
    return {
      gateways: gateways.map((planned) => {
        const guard = guards.get(nameOf(refOf(planned.gateway)));
        const policies = traffic.of(planned);
        if (guard === undefined && policies === undefined) return planned;
        const form = JSON.stringify([...(policies ?? [])]);
        const last = known.get(planned);
        if (last !== undefined && last.guard === guard && last.form === form) return last.result;
        const result = { ...planned, ...(guard && { guard }), ...(policies && { traffic: policies }) };
        known.set(planned, { guard, form, result });
        return result;
      }),
      attachments: [...auths.attachments, ...traffic.attachments],
      diagnostics: [...auths.diagnostics, ...traffic.diagnostics],
    };
  };
}
