import { ownerOfMost } from "./fair-share.ts";

/**
 * A bounded queue shared by several owners, with at most `maxWaiting` items in all. The owners take turns, so that one
 * with many items delays another by one turn only. When the queue is full, the owner of the most items loses its last
 * item to an owner of fewer.
 */
export class FairQueue<Item> {
  private readonly maxWaiting: number;
  /** The items of each owner, in the order of turns; an owner without waiting items is absent. */
  private readonly byOwner = new Map<string, Item[]>();
  private size = 0;

  constructor(maxWaiting: number) {
    this.maxWaiting = maxWaiting;
  }

  /** Enqueues the item. Returns the item that is evicted for it, or the item itself if it is rejected. */
  push(owner: string, item: Item): Item | undefined {
    const displaced = this.size < this.maxWaiting ? undefined : this.makePlace(owner);
    if (this.size >= this.maxWaiting) return item;
    const own = this.byOwner.get(owner);
    if (own === undefined) this.byOwner.set(owner, [item]);
    else own.push(item);
    this.size++;
    return displaced;
  }

  /** Removes and returns the next item. */
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
