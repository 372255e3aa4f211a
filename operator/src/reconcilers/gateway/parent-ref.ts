import type { HTTPRouteParentRef as ParentRef } from "../../api/generated/httproute.ts";
import { gatewayGroup } from "../../translate/gateway/kinds.ts";

/**
 * A key that is equal for references to the same listeners of the same parent, even if one of them spells out defaults.
 */
export const parentRefKey = (ref: Partial<ParentRef>, ownNamespace: string): string =>
  JSON.stringify([
    ref.group ?? gatewayGroup,
    ref.kind ?? "Gateway",
    ref.namespace ?? ownNamespace,
    ref.name,
    ref.sectionName ?? "",
    ref.port ?? 0,
  ]);
