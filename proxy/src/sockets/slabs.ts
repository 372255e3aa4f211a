/**
 * Memory of one size that is used again, for what is put together within a turn. `maxSpares` slabs are kept while nothing is in them;
 * more is left to the collector.
 */
export class Slabs {
  /** The size of each in bytes. */
  readonly size: number;
  private readonly maxSpares: number;
  private readonly spares: Buffer[] = [];

  constructor(size: number, maxSpares: number) {
    this.size = size;
    this.maxSpares = maxSpares;
  }

  take(): Buffer {
    return this.spares.pop() ?? Buffer.allocUnsafeSlow(this.size);
  }

  /** Memory of another size is left to the collector. */
  giveBack(slab: Buffer): void {
    if (slab.length === this.size && this.spares.length < this.maxSpares) this.spares.push(slab);
  }
}
