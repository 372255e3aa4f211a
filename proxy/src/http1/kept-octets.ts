import type { BorrowedBytes } from "../sockets/read-buffer.ts";

/** Longer ones are not kept: what is kept with them takes memory while its connection or endpoint exists, about four times as much. */
const maxKeptOctets = 1024;
/** Heads in a row that may be kept without a hit, before none is kept for a while. */
const maxMisses = 4;
/** For how many heads none is kept then. */
const restHeads = 1000;

const noOctets = Buffer.alloc(0);

/**
 * The octets of a head that has come before, by which it is found when it comes again. They are kept only where heads repeat: to keep one
 * costs about as much as to find it saves. One whose length is that of the head before may be the same; but those with an id of each
 * request have one length too, and differ.
 */
export class KeptOctets {
  private octets: Buffer = noOctets;
  private lastLength = 0;
  private misses = 0;
  private rest = 0;

  /** How many octets from index `from` on are the kept ones; 0: they are others, or heads differ and are not looked at now. */
  find(bytes: BorrowedBytes, from: number): number {
    const { octets } = this;
    const { length } = octets;
    if (length === 0 || this.rest > 0) return 0;
    const end = from + length;
    // The kept octets end with the first empty line that they have.
    if (end > bytes.length || octets.compare(bytes, from, end) !== 0) return 0;
    this.misses = 0;
    return length;
  }

  /** Whether to keep a head of that length, which was not found. */
  isWorthKeeping(length: number): boolean {
    if (this.rest > 0) {
      this.rest--;
      return false;
    }
    const hadLength = length === this.lastLength;
    this.lastLength = length;
    if (!hadLength) return false;
    if (this.misses++ < maxMisses) return length <= maxKeptOctets;
    this.misses = 0;
    this.rest = restHeads;
    return false;
  }

  /** Keeps octets, with the empty line behind them, in place of those before. */
  keep(octets: Buffer): void {
    this.octets = octets;
  }
}
