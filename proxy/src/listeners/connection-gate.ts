/** The limit by which a connection is refused: that of all listeners together, or that of its own listener. */
export type ConnectionLimit = "connections" | "listener-connections";

/** One counter for each listener port. Counter 0 is for all connections, because no listener has port 0. */
const slots = 65_536;
const all = 0;

/** Returns the size of the counters of a proxy. Counters of unused ports take only address space. */
export const connectionGateBytes = (workers: number): number =>
  workers * slots * Int32Array.BYTES_PER_ELEMENT;

/** The number of open client connections of a proxy, and of each of its listener ports, over all workers. */
export class ConnectionGate {
  private readonly max: number;
  /** The counters, per worker, so that the places of a worker that dies can be freed. */
  private readonly open: Int32Array;
  private readonly workers: number;
  private readonly ownAt: number;

  /** `max` bounds all connections, 0 = no bound. `memory` is shared by all workers. */
  constructor(max: number, memory = new SharedArrayBuffer(connectionGateBytes(1)), worker = 0) {
    this.max = max;
    this.open = new Int32Array(memory);
    this.workers = this.open.length / slots;
    this.ownAt = worker * slots;
  }

  /** Takes a place of a port, which may have `maxOfPort` (0 = no bound). Returns the limit that was reached, if any. */
  enter(port: number, maxOfPort: number): ConnectionLimit | undefined {
    if (!this.take(all, this.max)) return "connections";
    if (this.take(port, maxOfPort)) return undefined;
    this.giveBack(all);
    return "listener-connections";
  }

  /** Gives back a place that `enter` took. */
  leave(port: number): void {
    this.giveBack(all);
    this.giveBack(port);
  }

  /**
   * Takes a place, and reports whether the bound allows it. It counts before it compares: two workers at the same
   * moment can both be refused the last place, but can never both get it.
   */
  private take(slot: number, max: number): boolean {
    Atomics.add(this.open, this.ownAt + slot, 1);
    if (max === 0 || this.total(slot) <= max) return true;
    this.giveBack(slot);
    return false;
  }

  private giveBack(slot: number): void {
    Atomics.sub(this.open, this.ownAt + slot, 1);
  }

  private total(slot: number): number {
    let total = 0;
    for (let worker = 0; worker < this.workers; worker++) {
      total += Atomics.load(this.open, worker * slots + slot);
    }
    return total;
  }
}

/** Frees the places of a worker that has ended. */
export function releaseConnections(memory: SharedArrayBuffer, worker: number): void {
  const own = new Int32Array(memory, connectionGateBytes(worker), slots);
  // Only counters in use are written, so that the unused ones take no memory.
  own.forEach((open, slot) => {
    if (open !== 0) Atomics.store(own, slot, 0);
  });
}
