/** The number of open client connections of a worker, over all listeners. */
export class ConnectionGate {
  private open = 0;
  private readonly max: number;

  /** `max` 0 = off. */
  constructor(max: number) {
    this.max = max;
  }

  /** Takes a place; false when there is none. */
  enter(): boolean {
    if (this.max > 0 && this.open >= this.max) return false;
    this.open++;
    return true;
  }

  leave(): void {
    this.open--;
  }
}
