/** Limits on the requests of clients. See docs/ingress-nginx.md, "Limits". */
import type { RateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import { formatCidr } from "@svc-gateway/common/values/cidr.ts";
import { limitRate, limitRateAfter } from "../annotations/forwarding.ts";
import {
  limitAllowlist,
  limitBurstMultiplier,
  limitConnections,
  limitRpm,
  limitRps,
  limitWhitelist,
} from "../annotations/limits.ts";
import type { NginxReader } from "../reader.ts";
import type { Group, GroupContext } from "./group.ts";
import { reportPartners } from "./partners.ts";

/** The maximum capacity, which is more than any client sends at once. */
const maxCapacity = 1_000_000_000;

export const limits: Group = (read, context) => {
  const { ingress, nginx } = context;
  const multiplier = read(limitBurstMultiplier) ?? 0;
  const rateOf = (requests: number | undefined, periodMs: number) =>
    requests === undefined || requests === 0
      ? []
      : // nginx admits the burst on top of the first request, and more only as time passes.
        [{ requests, periodMs, capacity: Math.min(requests * multiplier + 1, maxCapacity) }];
  const rates = [...rateOf(read(limitRps), 1_000), ...rateOf(read(limitRpm), 60_000)];
  const maxConcurrent = read(limitConnections) ?? 0;
  const bytesPerSecond = (read(limitRate) ?? 0) * 1024;
  const exempt = read(limitAllowlist)?.map(formatCidr) ?? [];
  const limitsRequests = rates.length > 0 || maxConcurrent > 0;
  reportUnused({ hasRates: rates.length > 0, limitsRequests, isPaced: bytesPerSecond > 0 }, read, context);
  const { limitReqStatusCode, limitConnStatusCode, limitConnZoneHeader } = nginx.config.keys;
  const value: RateLimit = {
    ...(rates.length > 0 && { rates, status: limitReqStatusCode }),
    ...(maxConcurrent > 0 && { maxConcurrent, concurrentStatus: limitConnStatusCode }),
    ...(limitsRequests && { zone: `ingress ${ingress.metadata.name}` }),
    ...(limitsRequests && limitConnZoneHeader !== undefined && { byHeader: limitConnZoneHeader }),
    ...(limitsRequests && exempt.length > 0 && { exempt }),
    ...(bytesPerSecond > 0 && { pace: { bytesPerSecond, afterBytes: (read(limitRateAfter) ?? 0) * 1024 } }),
  };
  return Object.keys(value).length === 0 ? {} : { features: { "rate-limit": value } };
};

type Limits = { readonly hasRates: boolean; readonly limitsRequests: boolean; readonly isPaced: boolean };

/** Reports settings of limits that the Ingress does not have. */
function reportUnused(
  { hasRates, limitsRequests, isPaced }: Limits,
  read: NginxReader,
  context: GroupContext,
): void {
  if (!hasRates) {
    const why = "has no effect without limit-rps or limit-rpm above 0";
    reportPartners([limitBurstMultiplier], why, read, context);
  }
  if (!limitsRequests) {
    const why = "has no effect without limit-rps, limit-rpm or limit-connections above 0";
    const written = context.isWritten(limitAllowlist) ? limitAllowlist : limitWhitelist;
    reportPartners([written], why, read, context);
  }
  if (!isPaced) reportPartners([limitRateAfter], "has no effect without limit-rate above 0", read, context);
}
