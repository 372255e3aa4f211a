import { createHash } from "node:crypto";

/**
 * The memory of all circuit breakers of a proxy pod. It is a hash table of fixed size whose slots hold only 32-bit
 * integers, so that the workers of the pod can share it and change it with single atomic operations. No worker ever
 * waits for another one, and a worker that dies leaves no lock behind. See docs/features/circuit-breaker.md.
 */
export class BreakerTable {
  private readonly words: Int32Array;
  private readonly keys: BigInt64Array;

  /** `memory` must be zeroed, `breakerTableBytes` long, and a SharedArrayBuffer if several workers use it. */
  constructor(memory: ArrayBuffer | SharedArrayBuffer) {
    this.words = new Int32Array(memory);
    this.keys = new BigInt64Array(memory);
  }

  /**
   * Returns the slot of a key. A key without one gets an empty slot, else one that has not been used for a long time.
   * The result is undefined if the table is full; the breaker then never opens.
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
    // Another worker claimed the slot first. If it did so for another key, the search starts again.
    if (found !== spare.holds) return found === key ? this.slotAt(spare.index) : this.slotOf(key, nowMs);
    const slot = this.slotAt(spare.index);
    if (spare.holds !== 0n) slot.clear();
    slot.set(Field.usedAt, nowMs);
    return slot;
  }

  private slotAt(index: number): BreakerSlot {
    return new BreakerSlot(this.words, index * slotWords);
  }

  /** Reports whether a slot can be reused: it has not been used for a long time, and its breaker is not open. */
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
  /** The number of times that the breaker has opened without a calm window in between. */
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
/** The most slots that are probed for one key. */
const maxSteps = 64;
const forgottenMs = 10 * 60_000;

/** 2 MiB, of which the system allocates only the pages that are used. */
export const breakerTableBytes = slotCount * slotWords * 4;

/** Returns the key of a pair of names. With 64 bits, two of ten thousand pairs share a key on one of 10^11 proxies. */
export function breakerKey(routeId: string, address: string): bigint {
  const key = createHash("sha256").update(`${routeId}|${address}`).digest().readBigInt64LE();
  return key === 0n ? 1n : key;
}

/** A key as stored in its slot: two words, little-endian like every platform that Node runs on. */
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

  /** Sets a field if it still holds `expected`, and reports whether it did. */
  exchange(field: number, expected: number, value: number): boolean {
    return Atomics.compareExchange(this.words, this.start + field, expected, value) === expected;
  }

  /** Returns the milliseconds from the time in a field to `nowMs`; negative if that time is in the future. */
  since(field: number, nowMs: number): number {
    return (nowMs - this.get(field)) | 0;
  }

  /** Reports whether the slot still belongs to the key. */
  holds({ low, high }: SplitKey): boolean {
    return this.get(Field.key) === low && this.get(Field.key + 1) === high;
  }

  clear(): void {
    for (let field = Field.state; field < slotWords; field++) this.set(field, 0);
  }
}
