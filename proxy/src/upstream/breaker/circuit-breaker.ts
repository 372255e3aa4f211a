import type { CircuitBreaker as Settings } from "@svc-gateway/common/features/backend-policy.ts";
import { backoffMs } from "@svc-gateway/common/time/backoff.ts";
import { bucketCount, bucketWords, Field, type BreakerSlot } from "./breaker-table.ts";

export type BreakerState = "closed" | "open" | "half_open";

/** The admission of one request, which is passed back when its outcome is reported. */
export type Passage = { readonly word: number; readonly isProbe: boolean };

/**
 * The state of a slot is one word. The low bits are the state; the rest counts its changes, so that a worker that read
 * an older state cannot change a newer one.
 */
const closed = 0;
const open = 1;
/** Half open, with the probe under way. */
const probing = 2;
/** Half open, after a probe that ended without a verdict; the next request is the probe. */
const waiting = 3;
const stateBits = 3;

const names: readonly BreakerState[] = ["closed", "open", "half_open", "half_open"];

/** How long a probe can be without a result (its worker died, or its endpoint hangs) before another one replaces it. */
const probePatienceMs = 5 * 60_000;

/**
 * The circuit breaker of one route and endpoint. Its state is in a slot that every method reads again, so that any
 * number of workers can share it. Times are whole milliseconds of a clock that all workers share. See
 * docs/features/circuit-breaker.md.
 */
export class CircuitBreaker {
  private readonly slot: BreakerSlot;
  private readonly settings: Settings;
  private readonly onChange: (to: BreakerState) => void;

  /** `onChange` is called for the changes that this worker makes. */
  constructor(slot: BreakerSlot, settings: Settings, onChange: (to: BreakerState) => void) {
    this.slot = slot;
    this.settings = settings;
    this.onChange = onChange;
  }

  get state(): BreakerState {
    return names[this.slot.get(Field.state) & stateBits] as BreakerState;
  }

  /** Reports whether `admit` might admit a request now, without changing anything. */
  mayAdmit(nowMs: number): boolean {
    switch (this.slot.get(Field.state) & stateBits) {
      case open: {
        const leftMs = -this.slot.since(Field.openUntil, nowMs);
        return leftMs <= 0 || leftMs > Math.ceil(this.settings.maxOpenMs);
      }
      case probing:
        return this.slot.since(Field.probedAt, nowMs) >= probePatienceMs;
      default:
        return true;
    }
  }

  /** Admits a request, or returns undefined. An open breaker whose time is over admits one request as its probe. */
  admit(nowMs: number): Passage | undefined {
    const { slot } = this;
    slot.set(Field.usedAt, nowMs);
    const word = slot.get(Field.state);
    if ((word & stateBits) === closed) return { word, isProbe: false };
    if (!this.mayAdmit(nowMs)) return undefined;
    const next = successor(word, probing);
    const wasHalfOpen = (word & stateBits) !== open;
    if (!slot.exchange(Field.state, word, next)) return undefined;
    slot.set(Field.probedAt, nowMs);
    if (!wasHalfOpen) this.onChange("half_open");
    return { word: next, isProbe: true };
  }

  succeeded(passage: Passage, nowMs: number): void {
    if (passage.isProbe) this.close(passage, nowMs);
    else this.count(passage, nowMs, { requests: 1, failures: 0 });
  }

  failed(passage: Passage, nowMs: number): void {
    if (passage.isProbe) this.reopen(passage, nowMs);
    else this.count(passage, nowMs, { requests: 1, failures: 1 });
  }

  /** Reports the late failure of a request that has already been counted as a success. */
  failedLate(passage: Passage, nowMs: number): void {
    if (!passage.isProbe) this.count(passage, nowMs, { requests: 0, failures: 1 });
  }

  /** Reports a request that ended without a verdict about the endpoint. */
  withdrawn({ word, isProbe }: Passage): void {
    if (isProbe) this.slot.exchange(Field.state, word, successor(word, waiting));
  }

  private close({ word }: Passage, nowMs: number): void {
    const { slot } = this;
    if (slot.get(Field.state) !== word) return;
    for (let i = 0; i < bucketCount; i++) this.startBucket(i, 0);
    slot.set(Field.closedAt, nowMs);
    if (slot.exchange(Field.state, word, successor(word, closed))) this.onChange("closed");
  }

  private reopen({ word }: Passage, nowMs: number): void {
    const { slot } = this;
    if (slot.get(Field.state) !== word) return;
    this.setOpenTime(slot.get(Field.trips), nowMs);
    if (!slot.exchange(Field.state, word, successor(word, open))) return;
    slot.add(Field.trips, 1);
    this.onChange("open");
  }

  /** Counts an outcome, unless the state has changed since the request began. */
  private count(
    { word }: Passage,
    nowMs: number,
    counts: { readonly requests: number; readonly failures: number },
  ): void {
    const { slot, settings } = this;
    if (slot.get(Field.state) !== word) return;
    const number = Math.floor(nowMs / (settings.windowMs / bucketCount));
    const bucket = number % bucketCount;
    const field = Field.buckets + bucket * bucketWords;
    if (slot.get(field) !== (number | 0)) this.startBucket(bucket, number);
    if (counts.requests > 0) slot.add(field + 1, counts.requests);
    if (counts.failures > 0) slot.add(field + 2, counts.failures);
    if (this.isTooMuch(number)) this.trip(word, nowMs);
  }

  /** Resets a bucket. If two workers do so when a bucket begins, counts that the first one adds in between are lost. */
  private startBucket(bucket: number, number: number): void {
    const field = Field.buckets + bucket * bucketWords;
    this.slot.set(field + 1, 0);
    this.slot.set(field + 2, 0);
    this.slot.set(field, number | 0);
  }

  private isTooMuch(newest: number): boolean {
    const { slot, settings } = this;
    let requests = 0;
    let failures = 0;
    for (let age = 0; age < bucketCount; age++) {
      const number = newest - age;
      const field = Field.buckets + (((number % bucketCount) + bucketCount) % bucketCount) * bucketWords;
      if (slot.get(field) !== (number | 0)) continue;
      requests += slot.get(field + 1);
      failures += slot.get(field + 2);
    }
    return (
      failures > 0 && requests >= settings.minRequests && failures * 100 >= settings.threshold * requests
    );
  }

  private trip(word: number, nowMs: number): void {
    const { slot, settings } = this;
    const isCalm = slot.since(Field.closedAt, nowMs) >>> 0 >= settings.windowMs;
    const trips = isCalm ? 0 : slot.get(Field.trips);
    this.setOpenTime(trips, nowMs);
    if (!slot.exchange(Field.state, word, successor(word, open))) return;
    slot.set(Field.trips, trips + 1);
    this.onChange("open");
  }

  private setOpenTime(trips: number, nowMs: number): void {
    const { openMs, maxOpenMs } = this.settings;
    const openForMs = backoffMs({ firstMs: openMs, maxMs: maxOpenMs }, trips + 1);
    this.slot.set(Field.openUntil, (nowMs + Math.ceil(openForMs)) | 0);
  }
}

const successor = (word: number, state: number): number => (((word >>> 2) + 1) << 2) | state;
