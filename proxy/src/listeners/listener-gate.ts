/** Listener ports, the bound of their numbers excluded. */
const ports = 65_536;

/** Bytes of memory for the counters of a proxy. Those of ports that are never used take address space only. */
export const listenerGateBytes = (workers: number): number => workers * ports * Int32Array.BYTES_PER_ELEMENT;

/** The number of open client connections of each listener port, over all workers of a proxy. */
export class ListenerGate {
  /** Open connections per worker and port: so that a worker that dies gives its places back. */
  private readonly open: Int32Array;
  private readonly workers: number;
  private readonly ownAt: number;

  constructor(memory = new SharedArrayBuffer(listenerGateBytes(1)), worker = 0) {
    this.open = new Int32Array(memory);
    this.workers = this.open.length / ports;
    this.ownAt = worker * ports;
  }

  /** Takes a place of a port; false when it has `max` connections already. 0 = no bound. */
  enter(port: number, max: number): boolean {
    Atomics.add(this.open, this.ownAt + port, 1);
    if (max === 0 || this.total(port) <= max) return true;
    this.leave(port);
    return false;
  }

  leave(port: number): void {
    Atomics.sub(this.open, this.ownAt + port, 1);
  }

  private total(port: number): number {
    let total = 0;
    for (let worker = 0; worker < this.workers; worker++) {
      total += Atomics.load(this.open, worker * ports + port);
    }
    return total;
  }
}

/** A worker is gone, and its connections with it. */
export function releaseListenerPlaces(memory: SharedArrayBuffer, worker: number): void {
  const own = new Int32Array(memory, listenerGateBytes(worker), ports);
  // Only what is in use is written, so that the rest stays without memory.
  own.forEach((open, port) => {
    if (open !== 0) Atomics.store(own, port, 0);
  });
}
