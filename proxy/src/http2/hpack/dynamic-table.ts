import { HpackField } from "./hpack-field.ts";

const minSlots = 8;
const noField = new HpackField("", "", 0);

/** The dynamic table of a decoder (RFC 7541 2.3.2): a ring buffer in which the newest entry is the first. */
export class DynamicTable {
  /** The number of entries. */
  count = 0;
  private maxBytes: number;
  private bytes = 0;
  private fields: HpackField[] = [];
  /** The slot of the newest entry; the number of slots is a power of two. */
  private newest = 0;
  private mask = -1;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Returns an entry. `index` counts from the newest one, which is 0, and must be less than `count`. */
  at(index: number): HpackField {
    return this.fields[(this.newest + index) & this.mask] as HpackField;
  }

  /** Evicts entries as needed and adds one. An entry larger than the table only empties it (RFC 7541 4.4). */
  add(field: HpackField): void {
    const { size } = field;
    this.evict(this.maxBytes - size);
    if (size > this.maxBytes) return;
    if (this.count > this.mask) this.grow();
    this.newest = (this.newest - 1) & this.mask;
    this.fields[this.newest] = field;
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
      this.bytes -= (this.fields[oldest] as HpackField).size;
      this.fields[oldest] = noField;
    }
  }

  private grow(): void {
    const slots = Math.max(minSlots, 2 * (this.mask + 1));
    this.fields = Array.from({ length: slots }, (_, index) =>
      index < this.count ? this.at(index) : noField,
    );
    this.newest = 0;
    this.mask = slots - 1;
  }
}
