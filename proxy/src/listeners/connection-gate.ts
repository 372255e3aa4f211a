/** The number of open client connections of a proxy, over all listeners and workers. */
export class ConnectionGate {
  private readonly max: number;
  /** Open connections per worker: so that a worker that dies gives its places back. */
  private readonly open: Int32Array;
  private readonly worker: number;

  /** `max` 0 = off. `memory` has one counter per worker. */
  constructor(max: number, memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), worker = 0) {
    this.max = max;
    this.open = new Int32Array(memory);
    this.worker = worker;
  }

  /** Takes a place; false when there is none. */
  enter(): boolean {
    Atomics.add(this.open, this.worker, 1);
    if (this.max === 0 || this.total() <= this.max) return true;
    this.leave();
    return false;
  }

  leave(): void {
    Atomics.sub(this.open, this.worker, 1);
  }

  private total(): number {
    let total = 0;
    for (let worker = 0; worker < this.open.length; worker++) total += Atomics.load(this.open, worker);
    return total;
  }
}
