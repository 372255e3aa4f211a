/** The Gateways that policies name. See docs/features/ext-auth.md and docs/features/client-traffic-policy.md. */
import type { ObjectOf } from "../../../api/kinds.ts";
import { nameOf, refOf } from "../../../api/object.ts";
import { createLookup, type World } from "../../../world.ts";
import type { Place } from "../../diagnostics/define-finding.ts";
import {
  gatewayPolicyConflict,
  gatewayPolicyWithoutTarget,
  invalidGatewayPolicy,
} from "../../diagnostics/policies.ts";
import type { Diagnostic } from "../../finding.ts";
import type { PolicyAncestor } from "../../policy-ancestors.ts";
import { gatewayGroup } from "../kinds.ts";
import type { PlannedGateway } from "../listeners/gateways.ts";

export type GatewayPolicy = ObjectOf<"SvcExternalAuth"> | ObjectOf<"ClientTrafficPolicy">;
type TargetRef = { readonly name: string; readonly sectionName?: string };

/**
 * Finds a Gateway in the namespace of the policy: one of this controller, one that does not exist (`missing`),
 * or one of another controller, which decides about the policy (`foreign`).
 */
export type FindGateway<G extends PlannedGateway> = (
  policy: GatewayPolicy,
  ref: TargetRef,
) => G | "missing" | "foreign";

export function createGatewayFinder<G extends PlannedGateway>(
  world: World,
  gateways: readonly G[],
): FindGateway<G> {
  const lookup = createLookup(world);
  const ours = new Map(gateways.map((planned) => [nameOf(refOf(planned.gateway)), planned]));
  return ({ metadata: { namespace } }, { name }) =>
    ours.get(`${namespace}/${name}`) ??
    (lookup("Gateway", namespace, name) === undefined ? "missing" : "foreign");
}

export type Verdict = Pick<PolicyAncestor, "reason" | "message">;

export const missingGateway = ({ metadata }: GatewayPolicy, { name }: TargetRef): Verdict => ({
  reason: "TargetNotFound",
  message: `Gateway ${metadata.namespace}/${name} does not exist`,
});

/** The entry for the status of the policy. */
export const ancestorOf = (
  { metadata: { namespace } }: GatewayPolicy,
  { name, sectionName }: TargetRef,
  verdict: Verdict,
): PolicyAncestor => ({
  target: { group: gatewayGroup, kind: "Gateway", namespace, name, ...(sectionName && { sectionName }) },
  ...verdict,
});

const findings = {
  Conflicted: gatewayPolicyConflict,
  TargetNotFound: gatewayPolicyWithoutTarget,
  Invalid: invalidGatewayPolicy,
} as const;

/** The findings of a verdict; none for `Accepted`. */
export function describeVerdict(place: Place, { reason, message }: Verdict): readonly Diagnostic[] {
  return reason === "Accepted" ? [] : [findings[reason](place, message)];
}
