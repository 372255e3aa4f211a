import type { IpAccessControl } from "@svc-gateway/common/features/ip-access-control.ts";
import { compileCidrs, compileCidrSearch, formatCidr, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";

const unavailableReply: LocalReply = { status: 503, error: "list of client addresses unavailable" };
const error = "client address not allowed";
/**
 * Admits requests by the client's address: none from `deny`, and only those from `allow` if that is set. An address
 * that cannot be determined is in no range. See docs/features/ip-access-control.md.
 */
export function ipAccessControlFilter({ unavailable, name, deny, allow }: IpAccessControl): Filter {
  if (unavailable === true) return { slug: "ip-access-control", onRequest: () => unavailableReply };
  // The access log contains the cause; it is not revealed to the client.
  const refusal = (reason: "address-denied" | "address-not-allowed", why: string): LocalReply => ({
    status: 403,
    error,
    reason,
    detail: name === undefined ? why : `${name}: ${why}`,
  });
  const deniedRanges = readCidrs(deny).cidrs;
  const denied = compileCidrs(deniedRanges);
  const allowed = allow && compileCidrs(readCidrs(allow).cidrs);
  const notAllowedReply = refusal("address-not-allowed", `in none of ${allow?.length ?? 0} allowed ranges`);
  let findDenied: ReturnType<typeof compileCidrSearch> | undefined;
  const deniedReply = (clientIp: string): LocalReply => {
    // Compiled at the first refusal, because most lists refuse no client.
    findDenied ??= compileCidrSearch(deniedRanges);
    const range = findDenied(clientIp);
    return refusal(
      "address-denied",
      range === undefined ? "in a denied range" : `denied range ${formatCidr(range)}`,
    );
  };
  return {
    slug: "ip-access-control",
    onRequest({ clientIp }) {
      if (denied.contains(clientIp)) return deniedReply(clientIp);
      return allowed?.contains(clientIp) === false ? notAllowedReply : undefined;
    },
  };
}
