/** A growing wait: doubled with each failure up to a cap, then scattered over its whole length (full jitter). */
export type BackoffRange = { readonly firstMs: number; readonly capMs: number };

/** Reconnecting while nothing is served yet. */
export const reconnectRange: BackoffRange = { firstMs: 250, capMs: 30_000 };
/** Reconnecting while an earlier snapshot is served: new configuration waits, so it is tried more often. */
export const servingReconnectRange: BackoffRange = { firstMs: 250, capMs: 5_000 };
/** Renewing a certificate that is still valid for half its life. */
export const renewalRange: BackoffRange = { firstMs: 5_000, capMs: 300_000 };

/** The wait after a number of failures in a row, 1 or more: between 0 and the present length. */
export function reconnectDelayMs(
  failures: number,
  { firstMs, capMs }: BackoffRange,
  random: () => number,
): number {
  return random() * lengthMs(failures, { firstMs, capMs });
}

/** Like `reconnectDelayMs`, but never shorter than the first length: for what must not be asked for too often. */
export function renewalDelayMs(failures: number, range: BackoffRange, random: () => number): number {
  const length = lengthMs(failures, range);
  return range.firstMs + random() * (length - range.firstMs);
}

const lengthMs = (failures: number, { firstMs, capMs }: BackoffRange): number =>
  Math.min(capMs, firstMs * 2 ** Math.min(failures - 1, 30));
