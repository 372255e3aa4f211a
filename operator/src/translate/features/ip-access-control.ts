import { ipAccessControl, type IpAccessControl } from "@svc-gateway/common/features/ip-access-control.ts";
import { formatCidr, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { rangesLeftOut } from "../diagnostics.ts";
import { memo } from "../memo.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveReference } from "./reference.ts";

/** Who is let in by address; absent: everybody. See docs/features/ip-access-control.md. */
export function translateIpAccessControl(
  read: AnnotationReader,
  context: FeatureContext,
): IpAccessControl | undefined {
  const definition = ipAccessControl.annotations.ipAccessControl;
  const resource = resolveReference("IpAccessControl", definition, read, context);
  if (resource === undefined) return undefined;
  const { value, refused } = readRanges(resource);
  if (refused.length > 0) {
    const named = `IpAccessControl ${formatNamespacedName(resource.metadata)}`;
    context.report(definition, (place) => rangesLeftOut(place, named, refused));
  }
  return value;
}

/** Read once for all Ingresses that use the resource. */
const readRanges = memo(
  ({
    spec,
  }: ObjectOf<"IpAccessControl">): {
    readonly value: IpAccessControl;
    readonly refused: readonly string[];
  } => {
    const deny = readCidrs(spec.deny ?? []);
    const allow = readCidrs(spec.allow ?? []);
    // An allow list of which nothing is left stays a restriction: a slip of the pen must not open the door.
    const restricts = spec.allow !== undefined && spec.allow.length > 0;
    return {
      value: { deny: deny.cidrs.map(formatCidr), ...(restricts && { allow: allow.cidrs.map(formatCidr) }) },
      refused: [...deny.refused, ...allow.refused],
    };
  },
);
