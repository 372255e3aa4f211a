import type { IpAccessControl } from "@svc-gateway/common/features/ip-access-control.ts";
import { compileCidrs, compileCidrSearch, formatCidr, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";

const unavailableReply: LocalReply = { status: 503, error: "list of client addresses unavailable" };
const error = "client address not allowed";

/**
 * Admits requests by the client's address: none from `blocked` and `deny`, and only those from `allow` if that is set.
 * An address that cannot be determined is in no range. See docs/features/ip-access-control.md.
 */
export function ipAccessControlFilter({
  unavailable,
  name,
  blocked = [],
  deny,
  allow,
}: IpAccessControl): Filter {
  if (unavailable === true) return { slug: "ip-access-control", onRequest: () => unavailableReply };
  // The access log contains the cause; it is not revealed to the client.
  const refusal = (reason: "address-denied" | "address-not-allowed", why: string): LocalReply => ({
    status: 403,
    error,
    reason,
    detail: name === undefined ? why : `${name}: ${why}`,
  });
  const denied = compileRanges(deny);
  const allowed = allow && compileCidrs(readCidrs(allow).cidrs);
  const notAllowedReply = refusal("address-not-allowed", `in none of ${allow?.length ?? 0} allowed ranges`);
  const check: NonNullable<Filter["onEveryRequest"]> = ({ clientIp }) => {
    if (denied.contains(clientIp)) return refusal("address-denied", denied.describe("denied", clientIp));
    return allowed?.contains(clientIp) === false ? notAllowedReply : undefined;
  };
  if (blocked.length === 0) return { slug: "ip-access-control", onRequest: check };
  const blockedRanges = compileRanges(blocked);
  const block: NonNullable<Filter["onEveryRequest"]> = ({ clientIp }) =>
    blockedRanges.contains(clientIp)
      ? {
          ...{ status: 403, error, reason: "address-denied" },
          detail: blockedRanges.describe("blocked", clientIp),
        }
      : undefined;
  return {
    slug: "ip-access-control",
    onRequest: (exchange) => block(exchange) ?? check(exchange),
    onEveryRequest: block,
  };
}

type Ranges = Pick<ReturnType<typeof compileCidrs>, "contains"> & {
  /** Describes the narrowest range that contains an address. */
  readonly describe: (kind: "denied" | "blocked", clientIp: string) => string;
};

function compileRanges(texts: readonly string[]): Ranges {
  const { cidrs } = readCidrs(texts);
  const ranges = compileCidrs(cidrs);
  let find: ReturnType<typeof compileCidrSearch> | undefined;
  return {
    contains: (clientIp) => ranges.contains(clientIp),
    describe(kind, clientIp) {
      // Compiled at the first refusal, because most lists refuse no client.
      find ??= compileCidrSearch(cidrs);
      const range = find(clientIp);
      return range === undefined ? `in a ${kind} range` : `${kind} range ${formatCidr(range)}`;
    },
  };
}
