import { ownerOfMost } from "./fair-share.ts";

/**
 * What several owners have to wait for, at most `maxWaiting` in all. The owners take turns, so that one who has much waiting
 * holds up another for one turn only; and when all places are taken, the owner with the most gives up the last of them for
 * one who has fewer.
 */
export class FairQueue<Item> {
  private readonly maxWaiting: number;
  /** Whose turn it is comes first; an owner with nothing waiting is not there. */
  private readonly byOwner = new Map<string, Item[]>();
  private size = 0;

  constructor(maxWaiting: number) {
    this.maxWaiting = maxWaiting;
  }

  /** Lets the item wait; answers the one for which there is no place, which may be this one. */
  push(owner: string, item: Item): Item | undefined {
    const displaced = this.size < this.maxWaiting ? undefined : this.makePlace(owner);
    if (this.size >= this.maxWaiting) return item;
    const own = this.byOwner.get(owner);
    if (own === undefined) this.byOwner.set(owner, [item]);
    else own.push(item);
    this.size++;
    return displaced;
  }

  /** The next one. */
  shift(): Item | undefined {
    for (const [owner, items] of this.byOwner) {
      const next = items.shift();
      this.byOwner.delete(owner);
      if (items.length > 0) this.byOwner.set(owner, items);
      this.size--;
      return next;
    }
    return undefined;
  }

  private makePlace(owner: string): Item | undefined {
    const [, most] = ownerOfMost(this.byOwner, ({ length }) => length, owner) ?? [];
    if (most === undefined) return undefined;
    this.size--;
    return most.pop();
  }
}
