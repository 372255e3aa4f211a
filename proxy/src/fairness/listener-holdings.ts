import { Holdings } from "./holdings.ts";

/** The owner of an item: the port of the listener at which it arrived, and the client's network. */
export type Origin = { readonly listener: number; readonly network: string };

/**
 * The items of many clients on many listeners that share one bound. The item to evict is chosen from the listener that
 * has the most items, so that a flood on one listener does not affect others, and there from the network that has the
 * most, so that one client of a listener does not affect others.
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

  /** The oldest item of the network that has the most on this listener. */
  oldestOf(listener: number): Item | undefined {
    return this.byListener.get(listener)?.oldestOfMost();
  }

  /** The oldest item of the network that has the most on the listener that has the most. */
  oldestOfMost(): Item | undefined {
    return this.largest()?.oldestOfMost();
  }

  /**
   * The item to evict for a new one: as `oldestOfMost`, but only from a listener or network that would still have at
   * least as many items as that of the new one.
   */
  evictionFor({ listener, network }: Origin): Item | undefined {
    const own = this.byListener.get(listener);
    const largest = this.largest();
    if (largest === undefined) return undefined;
    if (largest !== own && largest.size > (own?.size ?? 0) + 1) return largest.oldestOfMost();
    return this.evictionWithinListener({ listener, network });
  }

  /** The item to evict for a new one, from the same listener. */
  evictionWithinListener({ listener, network }: Origin): Item | undefined {
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
