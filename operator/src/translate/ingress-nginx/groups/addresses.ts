/** Access control by client address. See docs/ingress-nginx.md, "Addresses". */
import { formatCidr } from "@svc-gateway/common/values/cidr.ts";
import { allowlistSourceRange, denylistSourceRange } from "../annotations/addresses.ts";
import type { Group } from "./group.ts";

/** A denied address is rejected even if it is also allowed. */
export const addresses: Group = (read) => {
  const allow = read(allowlistSourceRange)?.map(formatCidr);
  const deny = read(denylistSourceRange)?.map(formatCidr) ?? [];
  if (allow === undefined && deny.length === 0) return {};
  return { features: { "ip-access-control": { ...(allow !== undefined && { allow }), deny } } };
};
