const slots = 10;

/** Counts recent events: those in the current time slot and the nine before it. */
export class RecentCount {
  private readonly slotMs: number;
  private readonly counts = new Uint32Array(slots);
  private slot: number;
  private sum = 0;

  /** `windowMs` is the longest time for which an event counts. Times are milliseconds on one clock. */
  constructor(windowMs: number, nowMs: number) {
    this.slotMs = windowMs / slots;
    this.slot = Math.floor(nowMs / this.slotMs);
  }

  add(nowMs: number): void {
    this.forget(nowMs);
    const at = this.slot % slots;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum++;
  }

  total(nowMs: number): number {
    this.forget(nowMs);
    return this.sum;
  }

  private forget(nowMs: number): void {
    const slot = Math.floor(nowMs / this.slotMs);
    // A clock that is held back can go backwards.
    if (slot <= this.slot) return;
    if (slot - this.slot >= slots) {
      this.counts.fill(0);
      this.sum = 0;
    } else {
      for (let passed = this.slot + 1; passed <= slot; passed++) {
        this.sum -= this.counts[passed % slots] ?? 0;
        this.counts[passed % slots] = 0;
      }
    }
    this.slot = slot;
  }
}
