/** The layout of the memory of a `ShareTable`. */

/** The memory that the supervisor creates once and passes to every worker. */
export type ShareMemory = {
  readonly buffer: SharedArrayBuffer;
  readonly shares: number;
  /** Seeds of the hash, random for each process, so that clients cannot choose keys that collide. */
  readonly seeds: readonly [number, number];
};

/** The number of entries of a bucket: those in which a key can be stored, within a share. */
export const ways = 8;
/** The number of entries of a share, which take 16 KiB. */
export const keysPerShare = 1_024;
export const bucketsPerShare = keysPerShare / ways;

/** The size of a bucket in 64-bit words: the hashes of its entries, then their values. */
export const bucketWords = 2 * ways;
export const shareWords = bucketsPerShare * bucketWords;

/** The first word counts changes of the directory. The owners of all shares follow, then their expiry times. */
export const ownersAt = 1;
export const busyAt = (shares: number): number => ownersAt + shares;
export const entriesAt = (shares: number): number => ownersAt + 2 * shares;

const wordBytes = 8;

/** Creates memory for a number of shares. The system allocates that of a share when it is first used. */
export function createShareMemory(shares: number): ShareMemory {
  const seeds = crypto.getRandomValues(new Uint32Array(2));
  return {
    buffer: new SharedArrayBuffer((entriesAt(shares) + shares * shareWords) * wordBytes),
    shares,
    seeds: [seeds[0] as number, seeds[1] as number],
  };
}
