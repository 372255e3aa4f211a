import type { Listing } from "./listing.ts";

/** How long a folder must remain unchanged before a change is applied, in milliseconds. */
export type SettleTimes = {
  /** The time after any change, because editors and scripts write in several steps. */
  readonly quietMs: number;
  /** The time after a file disappeared or became empty, which is often the first half of a rewrite. */
  readonly vanishedQuietMs: number;
  /** The time after which a folder that never comes to rest is read anyway. */
  readonly maxMs: number;
  /** How long a file that may be cut (written in place) must remain unchanged; it keeps its objects until then. */
  readonly cutQuietMs: number;
  /** The time after which a file that was possibly cut at every read is used in its present version. */
  readonly maxCutMs: number;
};

export const settleTimes: SettleTimes = {
  quietMs: 20,
  vanishedQuietMs: 80,
  maxMs: 130,
  cutQuietMs: 500,
  maxCutMs: 60_000,
};

/** Decides when a changed folder has come to rest. Times are monotonic milliseconds. */
export type Settling = {
  /**
   * Decides about a new listing: ignore it (it equals the one accepted last), wait and list again, or apply it. The
   * first listing is applied immediately.
   */
  observe(listing: Listing, nowMs: number): SettleVerdict;
  /** Records that the listing was applied. */
  accept(listing: Listing): void;
  /**
   * Records that the listing has come to rest and is applied later. Differences from it count as changes that begin
   * now.
   */
  defer(listing: Listing, nowMs: number): void;
};

export type SettleVerdict =
  | { readonly type: "unchanged" }
  | { readonly type: "settled" }
  | { readonly type: "wait"; readonly waitMs: number };

export function createSettling({ quietMs, vanishedQuietMs, maxMs }: SettleTimes): Settling {
  let accepted: { readonly signature: string; readonly bytes: ReadonlyMap<string, number> } | undefined;
  let seen: { readonly signature: string; readonly sinceMs: number; readonly changedMs: number } | undefined;

  return {
    observe(listing, nowMs) {
      const signature = signatureOfListing(listing);
      if (accepted === undefined) return { type: "settled" };
      if (signature === accepted.signature) {
        seen = undefined;
        return { type: "unchanged" };
      }
      if (seen?.signature !== signature) {
        seen = { signature, sinceMs: nowMs, changedMs: seen?.changedMs ?? nowMs };
      }
      const quiet = hasVanished(listing) ? vanishedQuietMs : quietMs;
      const waitMs = Math.min(seen.sinceMs + quiet, seen.changedMs + maxMs) - nowMs;
      return waitMs <= 0 ? { type: "settled" } : { type: "wait", waitMs };
    },
    defer(listing, nowMs) {
      seen = { signature: signatureOfListing(listing), sinceMs: Number.NEGATIVE_INFINITY, changedMs: nowMs };
    },
    accept(listing) {
      accepted = { signature: signatureOfListing(listing), bytes: sizesOf(listing) };
      seen = undefined;
    },
  };

  function hasVanished(listing: Listing): boolean {
    const bytes = sizesOf(listing);
    return [...(accepted?.bytes ?? [])].some(([path, before]) => before > 0 && (bytes.get(path) ?? 0) === 0);
  }
}

const sizesOf = ({ files }: Listing): ReadonlyMap<string, number> =>
  new Map(files.map(({ path, bytes }) => [path, bytes]));

const signatureOfListing = ({ files, problems }: Listing): string =>
  [
    ...files.map(({ path, signature }) => `${path} ${signature}`),
    ...problems.map(({ file, message }) => `${file} ${message}`),
  ].join("\n");
