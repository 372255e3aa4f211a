import { Holdings } from "./holdings.ts";

/** Whose an item is: the port of the listener that it came to, and the network that it came from. */
export type Origin = { readonly listener: number; readonly network: string };

/**
 * What many clients of many listeners share a bound of. Two questions decide who gives way: which listener has the most,
 * so that the flood of one leaves the others alone, and which network has the most there, so that one client of a listener
 * leaves the others alone.
 */
export class ListenerHoldings<Item> {
  private readonly byListener = new Map<number, Holdings<Item>>();
  private total = 0;

  get size(): number {
    return this.total;
  }

  countOf(listener: number): number {
    return this.byListener.get(listener)?.size ?? 0;
  }

  add({ listener, network }: Origin, item: Item): void {
    let holdings = this.byListener.get(listener);
    if (holdings === undefined) this.byListener.set(listener, (holdings = new Holdings()));
    holdings.add(network, item);
    this.total++;
  }

  delete({ listener, network }: Origin, item: Item): void {
    const holdings = this.byListener.get(listener);
    if (holdings?.delete(network, item) !== true) return;
    this.total--;
    if (holdings.size === 0) this.byListener.delete(listener);
  }

  /** Of one listener: the oldest item of the network that has the most. */
  oldestOf(listener: number): Item | undefined {
    return this.byListener.get(listener)?.oldestOfMost();
  }

  /** Of the listener that has the most: the oldest item of the network that has the most there. */
  oldestOfMost(): Item | undefined {
    return this.largest()?.oldestOfMost();
  }

  /** As `oldestOfMost`, but only what its listener, or its network, has more of than the newcomer would have then. */
  fairLoser({ listener, network }: Origin): Item | undefined {
    const own = this.byListener.get(listener);
    const largest = this.largest();
    if (largest === undefined) return undefined;
    if (largest !== own && largest.size > (own?.size ?? 0) + 1) return largest.oldestOfMost();
    return this.fairLoserOf({ listener, network });
  }

  /** The same within the newcomer's listener. */
  fairLoserOf({ listener, network }: Origin): Item | undefined {
    const own = this.byListener.get(listener);
    return own?.oldestOfMost(own.countOf(network) + 2);
  }

  private largest(): Holdings<Item> | undefined {
    let largest: Holdings<Item> | undefined;
    for (const holdings of this.byListener.values()) {
      if (largest === undefined || holdings.size > largest.size) largest = holdings;
    }
    return largest;
  }
}
