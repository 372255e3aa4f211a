import { clientReasons, listenerReasons, proxyReasons, routingReasons } from "./client-reasons.ts";
import { filterReasons } from "./filter-reasons.ts";
import type { Reason } from "./reason.ts";
import { mirrorReasons, upstreamReasons } from "./upstream-reasons.ts";

/**
 * Every reason for which a request fails in the proxy, by the deciding part and by code: the `filter` and `reason` of
 * `svc_proxy_refusals_total` and of the access log. Codes are part of the interface: new ones can be added, but none
 * changes its meaning.
 */
export const refusalReasons = {
  client: clientReasons,
  listener: listenerReasons,
  routing: routingReasons,
  ...filterReasons,
  upstream: upstreamReasons,
  mirror: mirrorReasons,
  proxy: proxyReasons,
} as const;

type CodesOf<P> = P extends unknown ? keyof P : never;
type Part = (typeof refusalReasons)[keyof typeof refusalReasons];
type ReasonsOf<P> = P extends unknown ? P[keyof P] : never;
type ErrorOf<R> = R extends Reason<infer Text> ? Text : never;

/** The code of a reason. */
export type RefusalCode = CodesOf<Part>;

/** The texts of all reasons. */
export type RefusalError = ErrorOf<ReasonsOf<Part>>;

/** The part of the proxy that decides for a reason: the slug of a filter, or a name such as `routing`. */
export type RefusingPart = keyof typeof refusalReasons;

/** A reason with its code and part. */
export type ListedReason = Reason & { readonly code: RefusalCode; readonly part: RefusingPart };

/** All reasons, in the order of the list. */
export const listedReasons: readonly ListedReason[] = Object.entries(refusalReasons).flatMap(
  ([part, reasons]) =>
    Object.entries<Reason>(reasons).map(([code, reason]) => ({
      ...reason,
      code: code as RefusalCode,
      part: part as RefusingPart,
    })),
);

const byCode = new Map(listedReasons.map((listed) => [listed.code, listed.part]));
const byError = new Map(
  listedReasons
    .toReversed()
    .flatMap(({ code, errors }) => errors.map((error): readonly [string, RefusalCode] => [error, code])),
);

/** The part that decides for a reason. */
export const partOf = (code: RefusalCode): RefusingPart => byCode.get(code) ?? "proxy";

/** The reason of a text; the first one if several share the text, undefined for an unknown text. */
export const reasonOfError = (error: string): RefusalCode | undefined => byError.get(error);
