/** A table of times by owner and key, shared by all workers of a proxy (docs/adr/0013-workers.md, "Shared state"). */
import { KeyedHash } from "./keyed-hash.ts";
import { ShareDirectory, unread, type ShareOwner } from "./share-directory.ts";
import {
  bucketsPerShare,
  bucketWords,
  entriesAt,
  shareWords,
  ways,
  type ShareMemory,
} from "./share-memory.ts";

/** How long an owner that was refused another share waits before it tries again. */
const retryMs = 100;
/** How often an owner checks whether it can free shares. */
const tidyMs = 1_000;

/**
 * A table whose values are times (nanoseconds in 64 bits). An entry has no meaning once its time is over, and its place
 * is free only then. Owners have separate places, in shares that they get on demand: first free ones, then those of
 * owners that have more than their part (`ShareDirectory`). The keys of one owner therefore never displace those of
 * another.
 *
 * There are no locks, so that a worker that dies leaves nothing locked. An entry is claimed by exchanging the hash of
 * its key; times are changed by compare-and-exchange (`replace`). If two workers simultaneously take one entry or one
 * share for different uses, a change can be lost or applied to the other key: users of the table must tolerate that.
 */
export class ShareTable {
  /** All words of the memory; read with `Atomics`, changed with `replace`. */
  readonly words: BigInt64Array;
  private readonly halves: Int32Array;
  private readonly directory: ShareDirectory;
  private readonly seeds: ShareMemory["seeds"];
  private readonly entries: number;
  private readonly hash = new KeyedHash();

  constructor(memory: ShareMemory) {
    this.words = new BigInt64Array(memory.buffer);
    this.halves = new Int32Array(memory.buffer);
    this.directory = new ShareDirectory(memory);
    this.seeds = memory.seeds;
    this.entries = entriesAt(memory.shares);
  }

  /** Prepares lookups of an owner. The owners of one group divide the shares of the group. */
  owner(group: string, name: string): ShareOwner {
    const { hash, seeds } = this;
    hash.start(...seeds);
    hash.add(group);
    hash.finish();
    const groupHash = hash.high;
    hash.add(`/${name}`);
    hash.finish();
    return {
      group: groupHash,
      name: hash.low === 0 ? 1 : hash.low,
      seed: hash.high,
      shares: [],
      generation: unread,
      retryAtMs: 0,
      tidyAtMs: 0,
    };
  }

  /**
   * Returns the index in `words` of the key's time. A new key gets a place whose time is over, or else the place of the
   * owner whose time ends first (within 4 s), reset to 0. `nowMs` is of any monotonic clock that all workers share.
   */
  find(owner: ShareOwner, key: string, nowMs: number): number {
    const { hash, directory } = this;
    hash.start(owner.name, owner.seed);
    hash.add(key);
    hash.finish();
    const bucket = ((hash.low >>> 0) % bucketsPerShare) * bucketWords;
    if (owner.shares.length > 1 && nowMs >= owner.tidyAtMs) {
      owner.tidyAtMs = nowMs + tidyMs;
      directory.release(owner, nanoseconds(nowMs));
    }
    for (;;) {
      directory.refresh(owner);
      const at = this.lookUp(owner, bucket) ?? this.place(owner, bucket, nowMs);
      if (at !== undefined) return at + ways;
    }
  }

  /** Replaces the time that was read by `nextMs` (milliseconds). Returns false if another worker was faster. */
  replace(at: number, present: bigint, nextMs: number): boolean {
    const next = nanoseconds(nextMs);
    const share = Math.floor((at - this.entries) / shareWords);
    this.directory.keepUntil(share, next, Math.floor((nextMs * nanosecondsPerMs) / 2 ** 32));
    return Atomics.compareExchange(this.words, at, present, next) === present;
  }

  private lookUp({ shares }: ShareOwner, bucket: number): number | undefined {
    const { halves, entries } = this;
    const { low, high } = this.hash;
    for (const share of shares) {
      const first = entries + share * shareWords + bucket;
      for (let at = first; at < first + ways; at++) {
        if (halves[at * 2] === low && halves[at * 2 + 1] === high) return at;
      }
    }
    return undefined;
  }

  /**
   * Allocates an entry for the key and returns the index of its hash. Returns undefined if the shares have changed, so
   * that the caller must search again.
   */
  private place(owner: ShareOwner, bucket: number, nowMs: number): number | undefined {
    const { words, halves, entries } = this;
    const now = nanoseconds(nowMs);
    // The upper halves nearly always suffice, and reading them allocates nothing.
    const nowHigh = Math.floor((nowMs * nanosecondsPerMs) / 2 ** 32);
    let first: number | undefined;
    let firstHigh = 0;
    for (const share of owner.shares) {
      const begin = entries + share * shareWords + bucket;
      for (let at = begin; at < begin + ways; at++) {
        const high = halves[(at + ways) * 2 + 1] as number;
        if (high < nowHigh || (high === nowHigh && Atomics.load(words, at + ways) <= now)) {
          return this.claim(at);
        }
        if (first !== undefined && high >= firstHigh) continue;
        first = at;
        firstHigh = high;
      }
    }
    if (nowMs >= owner.retryAtMs) {
      if (this.directory.extend(owner, now)) return undefined;
      owner.retryAtMs = nowMs + retryMs;
    }
    if (first === undefined) {
      this.directory.borrow(owner);
      return undefined;
    }
    const claimed = this.claim(first);
    if (claimed !== undefined) Atomics.store(words, first + ways, 0n);
    return claimed;
  }

  private claim(at: number): number | undefined {
    const { low, high } = this.hash;
    const hash = (BigInt(high) << 32n) | BigInt(low >>> 0);
    const present = Atomics.load(this.words, at);
    return Atomics.compareExchange(this.words, at, present, hash) === present ? at : undefined;
  }
}

const nanosecondsPerMs = 1e6;

/** Converts milliseconds to a time of the table. */
const nanoseconds = (ms: number): bigint => BigInt(Math.round(ms * nanosecondsPerMs));

export const milliseconds = (time: bigint): number => Number(time) / nanosecondsPerMs;
