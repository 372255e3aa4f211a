import { ownerOfMost } from "./fair-share.ts";

/**
 * A bounded number of places that several owners share. When none is free, the owner of the most places loses its
 * oldest one to an owner of fewer, so that an owner that takes all places does not lock the others out.
 */
export class FairPlaces {
  private readonly max: number;
  /** The `onLost` callbacks of the holders of places, oldest first. */
  private readonly byOwner = new Map<string, Set<() => void>>();
  private taken = 0;

  constructor(max: number) {
    this.max = max;
  }

  /**
   * Takes a place and returns a function that releases it; undefined when there is none. `onLost` is called when the
   * place is taken away for another owner.
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
