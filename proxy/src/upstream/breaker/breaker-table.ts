import { createHash } from "node:crypto";

/**
 * The memory of all circuit breakers of a proxy pod: a hash table of fixed size whose slots hold nothing but 32-bit
 * integers, so that the workers of the pod can share it and change it with single atomic operations. No worker ever
 * waits for another one, and a worker that dies leaves nothing locked. See docs/features/circuit-breaker.md.
 */
export class BreakerTable {
  private readonly words: Int32Array;
  private readonly keys: BigInt64Array;

  /** `memory` is zero at first, `breakerTableBytes` long, and a SharedArrayBuffer where several workers use it. */
  constructor(memory: ArrayBuffer | SharedArrayBuffer) {
    this.words = new Int32Array(memory);
    this.keys = new BigInt64Array(memory);
  }

  /**
   * The slot of a key, allocated if there is none: an empty one, else one that has not been used for a long time.
   * Undefined when the table is full, which means a breaker that never opens.
   */
  slotOf(key: bigint, nowMs: number): BreakerSlot | undefined {
    const start = Number(BigInt.asUintN(32, key)) % slotCount;
    let spare: { readonly index: number; readonly holds: bigint } | undefined;
    for (let i = 0; i < maxSteps; i++) {
      const index = (start + i) % slotCount;
      const holds = Atomics.load(this.keys, index * (slotWords / 2));
      if (holds === key) return new BreakerSlot(this.words, index * slotWords);
      if (holds === 0n) {
        spare = { index, holds };
        break;
      }
      if (spare === undefined && this.isForgotten(index, nowMs)) spare = { index, holds };
    }
    if (spare === undefined) return undefined;
    const found = Atomics.compareExchange(this.keys, spare.index * (slotWords / 2), spare.holds, key);
    // Another worker was faster: with this key, or with another one, and then the search continues.
    if (found !== spare.holds) return found === key ? this.slotAt(spare.index) : this.slotOf(key, nowMs);
    const slot = this.slotAt(spare.index);
    if (spare.holds !== 0n) slot.clear();
    slot.set(Field.usedAt, nowMs);
    return slot;
  }

  private slotAt(index: number): BreakerSlot {
    return new BreakerSlot(this.words, index * slotWords);
  }

  /** Not used for a long time, and not about to be: an open breaker keeps its slot to the end of its time. */
  private isForgotten(index: number, nowMs: number): boolean {
    const slot = this.slotAt(index);
    const isOpen = slot.get(Field.trips) > 0 && slot.since(Field.openUntil, nowMs) < 0;
    return !isOpen && slot.since(Field.usedAt, nowMs) >>> 0 > forgottenMs;
  }
}

/** The words of a slot. The first two are its key. */
export const Field = {
  key: 0,
  /** State and generation, see circuit-breaker.ts. */
  state: 2,
  openUntil: 3,
  /** How often the breaker has opened without a calm window in between. */
  trips: 4,
  closedAt: 5,
  probedAt: 6,
  usedAt: 7,
  /** Buckets of three words: number of the bucket, requests, failures. */
  buckets: 8,
} as const;

export const bucketCount = 8;
export const bucketWords = 3;
const slotWords = 32;
const slotCount = 16_384;
/** Slots that are probed for one key. */
const maxSteps = 64;
const forgottenMs = 10 * 60_000;

/** 2 MiB, of which the system provides what is used. */
export const breakerTableBytes = slotCount * slotWords * 4;

/** The key of a pair of names. Of 64 bits, so that two of ten thousand pairs share one once in 10^11 proxies. */
export function breakerKey(routeId: string, address: string): bigint {
  const key = createHash("sha256").update(`${routeId}|${address}`).digest().readBigInt64LE();
  return key === 0n ? 1n : key;
}

/** A key as its slot holds it: two words, little-endian like every platform that Node runs on. */
export type SplitKey = { readonly low: number; readonly high: number };

export const splitKey = (key: bigint): SplitKey => ({
  low: Number(BigInt.asIntN(32, key)),
  high: Number(key >> 32n),
});

/** The fields of one breaker. Times are milliseconds in 32 bits, which wrap; only differences are compared. */
export class BreakerSlot {
  private readonly words: Int32Array;
  private readonly start: number;

  constructor(words: Int32Array, start: number) {
    this.words = words;
    this.start = start;
  }

  get(field: number): number {
    return Atomics.load(this.words, this.start + field);
  }

  set(field: number, value: number): void {
    Atomics.store(this.words, this.start + field, value);
  }

  add(field: number, amount: number): void {
    Atomics.add(this.words, this.start + field, amount);
  }

  /** Sets a field if it still holds `expected`; whether it did. */
  exchange(field: number, expected: number, value: number): boolean {
    return Atomics.compareExchange(this.words, this.start + field, expected, value) === expected;
  }

  /** Milliseconds from the time in a field to `nowMs`; negative when it is ahead. */
  since(field: number, nowMs: number): number {
    return (nowMs - this.get(field)) | 0;
  }

  /** False when the slot was given to another key in the meantime. */
  holds({ low, high }: SplitKey): boolean {
    return this.get(Field.key) === low && this.get(Field.key + 1) === high;
  }

  clear(): void {
    for (let field = Field.state; field < slotWords; field++) this.set(field, 0);
  }
}
