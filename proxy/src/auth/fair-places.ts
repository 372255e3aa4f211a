import { ownerOfMost } from "./fair-share.ts";

/**
 * Places that several owners share. When none is left, the owner with the most gives up the oldest of them for one who has
 * fewer: whoever takes all places keeps nobody out.
 */
export class FairPlaces {
  private readonly max: number;
  /** What the holders of places are told when they lose them, oldest first. */
  private readonly byOwner = new Map<string, Set<() => void>>();
  private taken = 0;

  constructor(max: number) {
    this.max = max;
  }

  /**
   * Takes a place, to be given back by calling the result; undefined when there is none. `onLost` is called when it goes to
   * another owner instead.
   */
  take(owner: string, onLost: () => void): (() => void) | undefined {
    if (this.taken >= this.max && !this.makePlace(owner)) return undefined;
    const own = this.byOwner.get(owner) ?? new Set();
    this.byOwner.set(owner, own);
    const lose = (): void => onLost();
    own.add(lose);
    this.taken++;
    return () => this.giveBack(owner, lose);
  }

  private giveBack(owner: string, lose: () => void): void {
    const own = this.byOwner.get(owner);
    if (own?.delete(lose) !== true) return;
    this.taken--;
    if (own.size === 0) this.byOwner.delete(owner);
  }

  private makePlace(owner: string): boolean {
    const [loser = "", places = []] = ownerOfMost(this.byOwner, ({ size }) => size, owner) ?? [];
    const [oldest] = places;
    if (oldest === undefined) return false;
    this.giveBack(loser, oldest);
    oldest();
    return true;
  }
}
