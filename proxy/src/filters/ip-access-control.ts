import type { IpAccessControl } from "@svc-gateway/common/features/ip-access-control.ts";
import { compileCidrs, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";

const unavailableReply: LocalReply = { status: 503, error: "list of client addresses unavailable" };
const error = "client address not allowed";
const deniedReply: LocalReply = { status: 403, error, reason: "address-denied" };
const notAllowedReply: LocalReply = { status: 403, error, reason: "address-not-allowed" };

/**
 * Admits requests by the client's address: not from `deny`, and only from `allow` where that is given. An address that
 * cannot be determined is in no range. See docs/features/ip-access-control.md.
 */
export function ipAccessControlFilter({ unavailable, deny, allow }: IpAccessControl): Filter {
  if (unavailable === true) return { slug: "ip-access-control", onRequest: () => unavailableReply };
  const denied = compileCidrs(readCidrs(deny).cidrs);
  const allowed = allow && compileCidrs(readCidrs(allow).cidrs);
  return {
    slug: "ip-access-control",
    onRequest({ clientIp }) {
      if (denied.contains(clientIp)) return deniedReply;
      return allowed?.contains(clientIp) === false ? notAllowedReply : undefined;
    },
  };
}
