import type { Backoff } from "@svc-gateway/common/time/backoff.ts";

/** The backoff of reconnects while nothing is served yet. */
export const reconnecting: Backoff = { firstMs: 250, maxMs: 30_000, jitter: "full" };
/** The backoff of reconnects while an earlier snapshot is served; shorter, because new configuration is waiting. */
export const reconnectingWhileServing: Backoff = { firstMs: 250, maxMs: 5_000, jitter: "full" };
/** The backoff of renewals of a certificate that is still valid, which must not be requested too often. */
export const renewing: Backoff = { firstMs: 5_000, maxMs: 300_000, jitter: "above-first" };
