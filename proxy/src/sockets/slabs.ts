/**
 * Reusable memory of one size, for data that is assembled within a turn. At most `maxSpares` unused slabs are kept;
 * more are left to the garbage collector.
 */
export class Slabs {
  /** The size of each slab in bytes. */
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

  /** Takes a slab back. Memory of another size is left to the garbage collector. */
  giveBack(slab: Buffer): void {
    if (slab.length === this.size && this.spares.length < this.maxSpares) this.spares.push(slab);
  }
}
