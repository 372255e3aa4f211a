/** Numbers that all workers of a proxy see, found by a key. See docs/adr/0013-workers.md, "Shared state". */

/** What the supervisor creates once and hands to every worker. */
export type SharedTableMemory = {
  readonly buffer: SharedArrayBuffer;
  /** Seeds of the hash, drawn anew for each process, so that nobody can choose keys that meet in one place. */
  readonly seeds: readonly [number, number];
};

/** Entries that a key may be in. The one used longest ago among them gives way to a new key. */
const ways = 8;
/** Words of an entry before its values: the hash of the key, and when the entry was used last. */
const ownWords = 2;
const wordBytes = 8;

/** Memory for a number of entries with `values` words each. A table never holds more keys, and never grows. */
export function createTableMemory(entries: number, values: number): SharedTableMemory {
  const buckets = Math.max(1, Math.floor(entries / ways));
  const bytes = buckets * ways * (ownWords + values) * wordBytes;
  const seeds = crypto.getRandomValues(new Uint32Array(2));
  return { buffer: new SharedArrayBuffer(bytes), seeds: [seeds[0] as number, seeds[1] as number] };
}

/**
 * A table without locks, so that a worker that dies leaves nothing locked. An entry is claimed by exchanging the hash of
 * its key; its values are signed 64-bit words that its users change by compare-and-exchange (`words` and `Atomics`). When
 * a table is full and two workers use the same entry for two keys at one moment, one change may be made to the other
 * key: what is kept here must bear that.
 */
export class SharedTable {
  /** All words of all entries. */
  readonly words: BigInt64Array;
  private readonly usedAt: Float64Array;
  private readonly halves: Int32Array;
  private readonly seeds: readonly [number, number];
  private readonly entryWords: number;
  private readonly buckets: number;
  private low = 0;
  private high = 0;

  /** `values` is what the memory was created with. */
  constructor({ buffer, seeds }: SharedTableMemory, values: number) {
    this.words = new BigInt64Array(buffer);
    this.usedAt = new Float64Array(buffer);
    this.halves = new Int32Array(buffer);
    this.seeds = seeds;
    this.entryWords = ownWords + values;
    this.buckets = this.words.length / this.entryWords / ways;
  }

  /**
   * Index in `words` of the first value of the key's entry. A key that is not there gets the entry of its neighbourhood
   * that was used longest ago, with values of 0. `now` is any clock that all workers share and that does not go back.
   */
  find(key: string, now: number): number {
    this.hash(key);
    const first = ((this.low >>> 0) % this.buckets) * ways * this.entryWords;
    for (;;) {
      const at = this.lookUp(first) ?? this.claim(first);
      if (at === undefined) continue;
      this.usedAt[at + 1] = now;
      return at + ownWords;
    }
  }

  private lookUp(first: number): number | undefined {
    const { halves, entryWords, low, high } = this;
    const end = first + ways * entryWords;
    for (let at = first; at < end; at += entryWords) {
      if (halves[at * 2] === low && halves[at * 2 + 1] === high) return at;
    }
    return undefined;
  }

  /** Undefined when another worker was faster. */
  private claim(first: number): number | undefined {
    const { words, usedAt, entryWords } = this;
    let oldest = first;
    const end = first + ways * entryWords;
    for (let at = first + entryWords; at < end; at += entryWords) {
      if ((usedAt[at + 1] as number) < (usedAt[oldest + 1] as number)) oldest = at;
    }
    const hash = (BigInt(this.high) << 32n) | BigInt(this.low >>> 0);
    const present = Atomics.load(words, oldest);
    if (present === hash || Atomics.compareExchange(words, oldest, present, hash) !== present)
      return undefined;
    for (let value = ownWords; value < entryWords; value++) Atomics.store(words, oldest + value, 0n);
    return oldest;
  }

  /** Two seeded 32-bit hashes, mixed at the end as MurmurHash3 does; never both 0, which is an empty entry. */
  private hash(key: string): void {
    let low = this.seeds[0];
    let high = this.seeds[1];
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i);
      low = Math.imul(low ^ code, 0x9e3779b1);
      low ^= low >>> 15;
      high = Math.imul(high ^ code, 0x5f356495);
      high ^= high >>> 13;
    }
    low = Math.imul(low ^ (low >>> 16), 0x85ebca6b);
    high = Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
    low ^= Math.imul(high ^ (high >>> 16), 0x27d4eb2f);
    this.low = low | 0;
    this.high = high | 1;
  }
}
