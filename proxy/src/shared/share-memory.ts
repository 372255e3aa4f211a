/** How the memory of a `ShareTable` is divided. */

/** What the supervisor creates once and hands to every worker. */
export type ShareMemory = {
  readonly buffer: SharedArrayBuffer;
  readonly shares: number;
  /** Seeds of the hash, random for each process, so that clients cannot choose keys that collide. */
  readonly seeds: readonly [number, number];
};

/** Entries that a key may be in, within a share. */
export const ways = 8;
/** Entries of a share; 16 KiB. */
export const keysPerShare = 1_024;
export const bucketsPerShare = keysPerShare / ways;

/** 64-bit words: a bucket has the hashes of its entries, then their values. */
export const bucketWords = 2 * ways;
export const shareWords = bucketsPerShare * bucketWords;

/** The first word counts changes of the directory; then come the owners of all shares, then until when each matters. */
export const ownersAt = 1;
export const busyAt = (shares: number): number => ownersAt + shares;
export const entriesAt = (shares: number): number => ownersAt + 2 * shares;

const wordBytes = 8;

/** Memory for so many shares. The system provides a share's part of it when the share is used for the first time. */
export function createShareMemory(shares: number): ShareMemory {
  const seeds = crypto.getRandomValues(new Uint32Array(2));
  return {
    buffer: new SharedArrayBuffer((entriesAt(shares) + shares * shareWords) * wordBytes),
    shares,
    seeds: [seeds[0] as number, seeds[1] as number],
  };
}
