import {
  ipAccessControl,
  unknownAddresses,
  type IpAccessControl,
} from "@svc-gateway/common/features/ip-access-control.ts";
import { formatCidr, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { isStandIn } from "../../api/stand-in.ts";
import {
  denialsLeftOut,
  describeUnusable,
  protectionUnavailable,
  rangesLeftOut,
  unusableResource,
} from "../diagnostics/references.ts";
import { memo } from "../incremental/memo.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveReference } from "./reference.ts";

/**
 * The addresses that are admitted or rejected; undefined if all are admitted. See
 * docs/features/ip-access-control.md.
 */
export function translateIpAccessControl(
  read: AnnotationReader,
  context: FeatureContext,
): IpAccessControl | undefined {
  const definition = ipAccessControl.annotations.ipAccessControl;
  const resource = resolveReference("IpAccessControl", definition, read, context);
  if (resource === undefined) return undefined;
  if (isStandIn(resource)) {
    const why = describeUnusable(`IpAccessControl ${formatNamespacedName(resource.metadata)}`, resource);
    context.reportWithEvent(definition, (place) =>
      protectionUnavailable(place, why, "every request is answered 503"),
    );
    return unknownAddresses;
  }
  const { value, refused } = readRanges(resource);
  const named = `IpAccessControl ${value.name}`;
  for (const [field, ranges] of Object.entries(refused)) {
    if (ranges.length === 0) continue;
    const report = field === "deny" ? denialsLeftOut : rangesLeftOut;
    context.report(definition, (place) => report(place, `spec.${field} of ${named}`, ranges));
  }
  if (refused.allow.length > 0 && value.allow === undefined) {
    const why = `spec.allow of ${named} has no valid IP address or CIDR`;
    context.report(definition, (place) => unusableResource(place, why, "it restricts nothing"));
  }
  return value;
}

/** Reads the ranges, once for all Ingresses that use the resource. */
const readRanges = memo(
  ({
    metadata,
    spec,
  }: ObjectOf<"IpAccessControl">): {
    readonly value: IpAccessControl & { readonly name: string };
    /** Invalid ranges by the name of the list. */
    readonly refused: { readonly [field in "deny" | "allow"]: readonly string[] };
  } => {
    const deny = readCidrs(spec.deny ?? []);
    const allow = readCidrs(spec.allow ?? []);
    // Invalid ranges fail open, like an empty list.
    const restricts = allow.cidrs.length > 0;
    return {
      value: {
        name: formatNamespacedName(metadata),
        deny: deny.cidrs.map(formatCidr),
        ...(restricts && { allow: allow.cidrs.map(formatCidr) }),
      },
      refused: { deny: deny.refused, allow: allow.refused },
    };
  },
);
