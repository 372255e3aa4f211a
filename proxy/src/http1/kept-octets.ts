import type { BorrowedBytes } from "../sockets/read-buffer.ts";

/** The longest heads that are kept. A head uses about four times its size while its connection or endpoint exists. */
const maxKeptOctets = 1024;
/** The heads that may be kept in a row without a hit, before none is kept for `restHeads` heads. */
const maxMisses = 4;
/** The number of heads for which none is kept then. */
const restHeads = 1000;

const noOctets = Buffer.alloc(0);

/**
 * The octets of an earlier head, by which a repeated one is recognised. They are kept only if heads repeat, because
 * keeping a head costs about as much as a hit saves. A head with the length of the previous one may be the same. But
 * heads with an id for each request also have the same length, and differ.
 */
export class KeptOctets {
  private octets: Buffer = noOctets;
  private lastLength = 0;
  private misses = 0;
  private rest = 0;

  /** Returns how many octets from `from` on are the kept ones; 0 if they differ, or while heads do not repeat. */
  find(bytes: BorrowedBytes, from: number): number {
    const { octets } = this;
    const { length } = octets;
    if (length === 0 || this.rest > 0) return 0;
    const end = from + length;
    // A match is a whole head: the kept octets end with their first empty line.
    if (end > bytes.length || octets.compare(bytes, from, end) !== 0) return 0;
    this.misses = 0;
    return length;
  }

  /** Reports whether to keep a head of that length, which was not found. */
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

  /** Keeps octets, including the empty line, instead of the previous ones. */
  keep(octets: Buffer): void {
    this.octets = octets;
  }
}
