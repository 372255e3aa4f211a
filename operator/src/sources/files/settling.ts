import type { Listing } from "./listing.ts";

/** How long a folder must stay as it is before a change is taken over. Milliseconds. */
export type SettleTimes = {
  /** After any change: editors and scripts write in several steps. */
  readonly quietMs: number;
  /** After a file disappeared or became empty, which is often the first half of a rewrite. */
  readonly vanishedQuietMs: number;
  /** A folder that never comes to rest is read after this time. */
  readonly maxMs: number;
  /** A file that may be cut, because it is written in place, keeps its objects until it has not changed for this time. */
  readonly cutQuietMs: number;
  /** A file that may be cut whenever it is read is taken as it is after this time. */
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
   * What to do with a listing taken now: nothing (it equals the one that was accepted last), wait and list again, or
   * take it over. The first listing is taken over at once.
   */
  observe(listing: Listing, nowMs: number): SettleVerdict;
  /** The listing was taken over. */
  accept(listing: Listing): void;
  /** The listing has come to rest, and is taken over later: what differs from it begins to change now. */
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
