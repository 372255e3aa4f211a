/**
 * Two seeded 32-bit hashes of the texts that are added, mixed at the end as in MurmurHash3. Not for secrets: its only
 * guarantee is that colliding texts cannot be chosen without the seeds.
 */
export class KeyedHash {
  low = 0;
  high = 0;

  /** Starts with seeds, or continues from the state of another hash. */
  start(low: number, high: number): void {
    this.low = low;
    this.high = high;
  }

  add(text: string): void {
    let { low, high } = this;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      low = Math.imul(low ^ code, 0x9e3779b1);
      low ^= low >>> 15;
      high = Math.imul(high ^ code, 0x5f356495);
      high ^= high >>> 13;
    }
    this.low = low;
    this.high = high;
  }

  /** Mixes the final values. `high` is odd afterwards, so that the two are never both 0. */
  finish(): void {
    let { low, high } = this;
    low = Math.imul(low ^ (low >>> 16), 0x85ebca6b);
    high = Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
    low ^= Math.imul(high ^ (high >>> 16), 0x27d4eb2f);
    this.low = low | 0;
    this.high = high | 1;
  }
}
