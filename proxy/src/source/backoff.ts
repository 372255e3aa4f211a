import type { Backoff } from "@svc-gateway/common/time/backoff.ts";

/** Reconnecting while nothing is served yet. */
export const reconnecting: Backoff = { firstMs: 250, maxMs: 30_000, jitter: "full" };
/** Reconnecting while an earlier snapshot is served: new configuration waits, so attempts are more frequent. */
export const reconnectingWhileServing: Backoff = { firstMs: 250, maxMs: 5_000, jitter: "full" };
/** Renewing a certificate that is still valid for half its life, which must not be requested too often. */
export const renewing: Backoff = { firstMs: 5_000, maxMs: 300_000, jitter: "above-first" };
