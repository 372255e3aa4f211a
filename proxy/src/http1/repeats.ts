/** So many heads that are kept may come to nothing in a row, before none is kept for a while. */
const maxVain = 4;
/** How many heads that while is. */
const restHeads = 1000;

/**
 * Whether heads of a connection or a backend repeat, so that it is worth keeping one: to keep one costs about as much as to find it saves.
 * One whose length is that of the head before may be the same; but those with an id of each request have one length too, and differ.
 */
export class Repeats {
  private lastLength = 0;
  private vain = 0;
  private rest = 0;

  /** False: heads differ, and are not to be looked at now. */
  get areLikely(): boolean {
    return this.rest === 0;
  }

  /** A head was the kept one. */
  found(): void {
    this.vain = 0;
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
    if (this.vain++ < maxVain) return true;
    this.vain = 0;
    this.rest = restHeads;
    return false;
  }
}
