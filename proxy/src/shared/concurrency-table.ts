import { KeyedHash } from "./keyed-hash.ts";

/** The memory of a `ConcurrencyTable`, created once for all workers of a proxy. */
export type ConcurrencyMemory = {
  /** The hash of the key of each entry. */
  readonly keys: SharedArrayBuffer;
  /** The number of requests in progress for each entry, by worker. */
  readonly counts: SharedArrayBuffer;
  readonly entries: number;
  readonly workers: number;
  /** Seeds of the hash, random for each process, so that clients cannot choose keys that collide. */
  readonly seeds: readonly [number, number];
};

/** The number of entries for clients with requests in progress; the system allocates memory only for used ones. */
const defaultEntries = 65_536;
/** The number of consecutive entries in which a key can be stored. */
const reach = 32;

export function createConcurrencyMemory(
  workers: number,
  entries: number = defaultEntries,
): ConcurrencyMemory {
  const seeds = crypto.getRandomValues(new Uint32Array(2));
  return {
    keys: new SharedArrayBuffer(entries * BigInt64Array.BYTES_PER_ELEMENT),
    counts: new SharedArrayBuffer(entries * workers * Int32Array.BYTES_PER_ELEMENT),
    entries,
    workers,
    seeds: [seeds[0] as number, seeds[1] as number],
  };
}

/** Releases the requests in progress of a worker that has ended. */
export function releaseConcurrency({ counts, entries, workers }: ConcurrencyMemory, worker: number): void {
  const all = new Int32Array(counts);
  for (let entry = 0; entry < entries; entry++) Atomics.store(all, entry * workers + worker, 0);
}

/** The result of `enter` if a client has reached its limit, or no entry is free. */
export const refused = -1;

/**
 * Counts the requests that clients have in progress, over all workers, without locks. Each worker changes only its own
 * counts, so that those of a worker that dies can be released. An entry whose counts are all 0 is free for another key.
 * If two workers take the last place simultaneously, both can be refused. If two start to count the same key
 * simultaneously, the client can be counted in two entries until one of them is free again.
 */
export class ConcurrencyTable {
  private readonly keys: BigInt64Array;
  private readonly halves: Int32Array;
  private readonly counts: Int32Array;
  private readonly memory: ConcurrencyMemory;
  private readonly worker: number;
  private readonly hash = new KeyedHash();

  constructor(memory: ConcurrencyMemory, worker: number) {
    this.memory = memory;
    this.worker = worker;
    this.keys = new BigInt64Array(memory.keys);
    this.halves = new Int32Array(memory.keys);
    this.counts = new Int32Array(memory.counts);
  }

  /** Counts one more request of the key, up to `most`. Returns the entry, for `leave`, or `refused`. */
  enter(zone: string, key: string, most: number): number {
    const { hash, memory, worker, counts } = this;
    hash.start(...memory.seeds);
    hash.add(zone);
    hash.add("\n");
    hash.add(key);
    hash.finish();
    for (;;) {
      const entry = this.find() ?? this.claim();
      if (entry === undefined) return refused;
      const own = entry * memory.workers + worker;
      Atomics.add(counts, own, 1);
      // Until its count was raised, the entry could be claimed for another key.
      if (!this.holds(entry)) Atomics.sub(counts, own, 1);
      else if (this.total(entry) <= most) return entry;
      else {
        Atomics.sub(counts, own, 1);
        return refused;
      }
    }
  }

  leave(entry: number): void {
    const own = entry * this.memory.workers + this.worker;
    // The count is 0 if the counts of this worker were released meanwhile.
    if (Atomics.load(this.counts, own) > 0) Atomics.sub(this.counts, own, 1);
  }

  private find(): number | undefined {
    for (let i = 0; i < reach; i++) {
      const entry = this.entryAt(i);
      if (this.holds(entry)) return entry;
    }
    return undefined;
  }

  /** Claims a free entry for the key; undefined when there is none within `reach`. */
  private claim(): number | undefined {
    const { low, high } = this.hash;
    const wanted = (BigInt(high) << 32n) | BigInt(low >>> 0);
    for (let i = 0; i < reach; i++) {
      const entry = this.entryAt(i);
      const present = Atomics.load(this.keys, entry);
      if (this.total(entry) > 0) continue;
      if (Atomics.compareExchange(this.keys, entry, present, wanted) === present) return entry;
    }
    return undefined;
  }

  private entryAt(place: number): number {
    return ((this.hash.low >>> 0) + place) % this.memory.entries;
  }

  private holds(entry: number): boolean {
    const { halves } = this;
    const { low, high } = this.hash;
    return Atomics.load(halves, entry * 2) === low && Atomics.load(halves, entry * 2 + 1) === high;
  }

  private total(entry: number): number {
    const { counts } = this;
    const { workers } = this.memory;
    let sum = 0;
    for (let at = entry * workers; at < (entry + 1) * workers; at++) sum += Atomics.load(counts, at);
    return sum;
  }
}
