/** The size of the TLS settings of SvcBackendPolicies in snapshots. See docs/features/backend-policy.md, "Ports". */
import type { ObjectOf } from "../../api/kinds.ts";
import { formatRef, refOf } from "../../api/object.ts";
import { ageOf } from "../age.ts";
import { backendTlsTooLarge } from "../diagnostics/policies.ts";
import { chooseLeftOut } from "../size/choose.ts";
import { sharedScope } from "../size/object-size.ts";
import { closedPorts, type PortConnections } from "./port-connections.ts";

type Policy = ObjectOf<"SvcBackendPolicy">;
type Fit = (policy: Policy, own: PortConnections) => PortConnections;

/**
 * The limit for all policies together, in characters. It allows some hundred bundles of authorities, or
 * thousands of certificates.
 */
export const maxPortSettingsLength = 16 * 1024 * 1024;

/**
 * Leaves out TLS settings of policies, so that no connections are made to their ports, until the total length
 * is within `maxPortSettingsLength`. The settings that are left out first are the largest of the namespace that
 * takes the most; of similarly large ones, the newest.
 */
export function createPortSettingsFitter(
  policies: readonly Policy[],
  read: (policy: Policy) => PortConnections,
): Fit {
  const sizes = policies
    .map((object) => ({ object, length: lengthOf(read(object)) }))
    .filter(({ length }) => length > 0);
  if (sizes.reduce((sum, { length }) => sum + length, 0) <= maxPortSettingsLength) return (_, own) => own;
  const leftOut = new Set(
    chooseLeftOut(
      sharedScope,
      sizes.map(({ object, length }) => ({
        size: { object: refOf(object), age: ageOf(object), scopes: [], isTooLarge: false },
        bytes: [length, 0, 0] as const,
      })),
      maxPortSettingsLength,
    ).map(({ object }) => formatRef(object)),
  );
  return (policy, own) => {
    const object = refOf(policy);
    if (!leftOut.has(formatRef(object))) return own;
    const tooLarge = backendTlsTooLarge(
      { object, field: "spec.ports" },
      maxPortSettingsLength / 1_048_576,
      Math.round(lengthOf(own) / 1024),
    );
    return { ...closedPorts(policy), diagnostics: [...own.diagnostics, tooLarge] };
  };
}

const lengthOf = ({ ports }: PortConnections): number =>
  [...ports.values()].reduce((sum, { tls }) => sum + (tls?.resource.body.length ?? 0), 0);
