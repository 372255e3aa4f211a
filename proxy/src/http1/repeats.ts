/** Heads in a row that may be kept without a hit, before none is kept for a while. */
const maxMisses = 4;
/** For how many heads none is kept then. */
const restHeads = 1000;

/**
 * Whether heads of a connection or a backend repeat, so that it is worth keeping one: to keep one costs about as much as to find it saves.
 * One whose length is that of the head before may be the same; but those with an id of each request have one length too, and differ.
 */
export class Repeats {
  private lastLength = 0;
  private misses = 0;
  private rest = 0;

  /** False: heads differ, and are not to be looked at now. */
  get areLikely(): boolean {
    return this.rest === 0;
  }

  /** A head was the kept one. */
  found(): void {
    this.misses = 0;
  }

  /** Whether to keep a head of that length, which is not the kept one. */
  isWorthKeeping(length: number): boolean {
    if (this.rest > 0) {
      this.rest--;
      return false;
    }
    const hadLength = length === this.lastLength;
    this.lastLength = length;
    if (!hadLength) return false;
    if (this.misses++ < maxMisses) return true;
    this.misses = 0;
    this.rest = restHeads;
    return false;
  }
}
