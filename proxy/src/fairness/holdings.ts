/**
 * Items by owner, oldest first, with direct access to the owner that has the most. Used for bounds that one owner could
 * exhaust. Every operation takes constant time, because it must remain fast during floods.
 */
export class Holdings<Item> {
  private readonly byOwner = new Map<string, Set<Item>>();
  /** The owners by their number of items; of several, the owner that has had that number for longest comes first. */
  private readonly byCount = new Map<number, Set<string>>();
  private highest = 0;
  private total = 0;

  get size(): number {
    return this.total;
  }

  countOf(owner: string): number {
    return this.byOwner.get(owner)?.size ?? 0;
  }

  /** Adds an item that is not yet held. */
  add(owner: string, item: Item): void {
    let items = this.byOwner.get(owner);
    if (items === undefined) this.byOwner.set(owner, (items = new Set()));
    items.add(item);
    this.total++;
    this.rank(owner, items.size - 1, items.size);
  }

  /** Removes an item. Returns false if it is not held. */
  delete(owner: string, item: Item): boolean {
    const items = this.byOwner.get(owner);
    if (items?.delete(item) !== true) return false;
    if (items.size === 0) this.byOwner.delete(owner);
    this.total--;
    this.rank(owner, items.size + 1, items.size);
    return true;
  }

  /** The oldest item of the owner that has the most, if that is at least `atLeast`. */
  oldestOfMost(atLeast = 1): Item | undefined {
    if (this.highest < atLeast) return undefined;
    const [owner = ""] = this.byCount.get(this.highest) ?? [];
    const [oldest] = this.byOwner.get(owner) ?? [];
    return oldest;
  }

  private rank(owner: string, before: number, after: number): void {
    const left = this.byCount.get(before);
    if (left?.delete(owner) === true && left.size === 0) this.byCount.delete(before);
    if (after > 0) {
      let joined = this.byCount.get(after);
      if (joined === undefined) this.byCount.set(after, (joined = new Set()));
      joined.add(owner);
    }
    if (after > this.highest || !this.byCount.has(this.highest)) this.highest = after;
  }
}
