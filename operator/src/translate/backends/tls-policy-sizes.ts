/**
 * The size of the authorities of BackendTLSPolicies in snapshots. See docs/features/backend-tls.md, "Which
 * authorities are trusted".
 */
import { formatRef, refOf } from "../../api/object.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { World } from "../../world.ts";
import { ageOf } from "../age.ts";
import { withoutStandIns } from "../closures.ts";
import { chooseLeftOut } from "../size/choose.ts";
import { sharedScope } from "../size/object-size.ts";
import type { TlsPolicySettings } from "./tls-policy-settings.ts";

type Policy = ObjectOf<"BackendTLSPolicy">;

/**
 * The limit for all policies together, each with a copy of its authorities. It allows more than a hundred
 * policies with the roots of an operating system. Together with the limit for routes and everything else, it is
 * below the limit of a proxy (docs/discovery.md, "Limits").
 */
export const maxAuthoritiesLength = 32 * 1024 * 1024;

/**
 * Leaves out authorities of policies, so that no connections are made under them, until the total length is
 * within `maxAuthoritiesLength`. The authorities that are left out first are the largest of the namespace that
 * takes the most; of similarly large ones, the newest.
 */
export function createAuthorityFitter(
  world: World,
  read: (policy: Policy) => TlsPolicySettings,
): (policy: Policy, own: TlsPolicySettings) => TlsPolicySettings {
  const policies = withoutStandIns(world.BackendTLSPolicy);
  const lengthOf = (policy: Policy): number => read(policy).tls?.authorities?.length ?? 0;
  const total = policies.reduce((sum, policy) => sum + lengthOf(policy), 0);
  if (total <= maxAuthoritiesLength) return (_, own) => own;
  const sizes = policies.map((object) => ({
    size: { object: refOf(object), age: ageOf(object), scopes: [], isTooLarge: false },
    bytes: [lengthOf(object), 0, 0] as const,
  }));
  const leftOut = new Set(
    chooseLeftOut(sharedScope, sizes, maxAuthoritiesLength).map(({ object }) => formatRef(object)),
  );
  return (policy, own) => {
    if (own.tls === undefined || !leftOut.has(formatRef(refOf(policy)))) return own;
    const { authorities, ...tls } = own.tls;
    const message = `The certificate authorities of all policies take more than ${maxAuthoritiesLength / 1_048_576} MiB, and namespace ${policy.metadata.namespace} takes the most of it (this policy: ${Math.round((authorities?.length ?? 0) / 1024)} KiB)`;
    return { ...own, tls, unaccepted: own.unaccepted ?? { reason: "Invalid", message } };
  };
}
