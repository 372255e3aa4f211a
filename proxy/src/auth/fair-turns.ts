import { FairQueue } from "./fair-queue.ts";

type Waiting = { readonly start: () => void; readonly refuse: () => void; readonly isWanted: () => boolean };

/** Runs the work of several owners, a bounded number of pieces at a time. The owners take turns (`FairQueue`). */
export class FairTurns {
  private readonly waiting: FairQueue<Waiting>;
  private free: number;
  private readonly onRefused: () => void;

  /** `onRefused` is called for work that is rejected or evicted because too much work waits. */
  constructor(
    { atOnce, maxWaiting }: { readonly atOnce: number; readonly maxWaiting: number },
    onRefused: () => void = () => {},
  ) {
    this.free = atOnce;
    this.waiting = new FairQueue(maxWaiting);
    this.onRefused = onRefused;
  }

  /**
   * Runs the work when its turn comes. Resolves to `busy` if there was no place for it, or if it was no longer wanted
   * (`isWanted`) when its turn came. Rejects if the work does.
   */
  async run<T>(owner: string, isWanted: () => boolean, work: () => Promise<T>): Promise<T | "busy"> {
    if (!(await this.turn(owner, isWanted))) return "busy";
    try {
      return await work();
    } finally {
      this.free++;
      this.next();
    }
  }

  /** Resolves all waiting work to `busy`; work that is under way continues. */
  close(): void {
    for (let one = this.waiting.shift(); one !== undefined; one = this.waiting.shift()) one.refuse();
  }

  private turn(owner: string, isWanted: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const one = { start: () => resolve(true), refuse: () => resolve(false), isWanted };
      const displaced = this.waiting.push(owner, one);
      if (displaced !== undefined) {
        displaced.refuse();
        this.onRefused();
      }
      this.next();
    });
  }

  private next(): void {
    while (this.free > 0) {
      const one = this.waiting.shift();
      if (one === undefined) return;
      if (!one.isWanted()) {
        one.refuse();
        continue;
      }
      this.free--;
      one.start();
    }
  }
}
