/** What RFC 7541 4.1 counts for an entry beyond its name and value. */
export const entryOverheadBytes = 32;

const minSlots = 8;

/**
 * The dynamic table of a decoder (RFC 7541 2.3.2): a ring whose newest entry is the first. Each entry carries a tag, what its
 * owner found out about the field when it came.
 */
export class DynamicTable {
  /** Entries. */
  count = 0;
  private maxBytes: number;
  private bytes = 0;
  private names: string[] = [];
  private values: string[] = [];
  private tags: number[] = [];
  /** Where the newest entry is; the number of slots is a power of two. */
  private newest = 0;
  private mask = -1;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** `index` counts from the newest entry, which is 0; it must be less than `count`. */
  name(index: number): string {
    return this.names[(this.newest + index) & this.mask] as string;
  }

  value(index: number): string {
    return this.values[(this.newest + index) & this.mask] as string;
  }

  tag(index: number): number {
    return this.tags[(this.newest + index) & this.mask] as number;
  }

  /** Makes room and adds the entry; one that is larger than the table only empties it (RFC 7541 4.4). */
  add(name: string, value: string, tag: number): void {
    const size = name.length + value.length + entryOverheadBytes;
    this.evict(this.maxBytes - size);
    if (size > this.maxBytes) return;
    if (this.count > this.mask) this.grow();
    this.newest = (this.newest - 1) & this.mask;
    this.names[this.newest] = name;
    this.values[this.newest] = value;
    this.tags[this.newest] = tag;
    this.count++;
    this.bytes += size;
  }

  resize(maxBytes: number): void {
    this.maxBytes = maxBytes;
    this.evict(maxBytes);
  }

  private evict(toBytes: number): void {
    while (this.count > 0 && this.bytes > toBytes) {
      const oldest = (this.newest + --this.count) & this.mask;
      this.bytes -=
        (this.names[oldest] as string).length + (this.values[oldest] as string).length + entryOverheadBytes;
      this.names[oldest] = "";
      this.values[oldest] = "";
    }
  }

  private grow(): void {
    const slots = Math.max(minSlots, 2 * (this.mask + 1));
    const of = <Value>(read: (index: number) => Value, none: Value): Value[] =>
      Array.from({ length: slots }, (_, index) => (index < this.count ? read(index) : none));
    const names = of((index) => this.name(index), "");
    const values = of((index) => this.value(index), "");
    const tags = of((index) => this.tag(index), 0);
    this.names = names;
    this.values = values;
    this.tags = tags;
    this.newest = 0;
    this.mask = slots - 1;
  }
}
