import { Repeats } from "../../../http1/repeats.ts";
import type { Fields } from "../../../message/fields.ts";
import type { BorrowedBytes } from "../../../sockets/read-buffer.ts";

/** Longer fields are not kept: what is kept takes memory while the connection is open, about four times as much. */
const maxKeptOctets = 1024;

const noOctets = Buffer.alloc(0);

/**
 * The fields of a request that came before on a connection, for requests whose fields are the same octets: a client that keeps its
 * connection sends few different ones. What was parsed and checked is not parsed and checked again, nor made a string, and the fields
 * keep what is written of them. The same is done with heads of responses (proxy/src/upstream/h1/known-head.ts).
 */
export class KnownFields {
  private octets: Buffer = noOctets;
  private kept: Fields | undefined = undefined;
  private readonly repeats = new Repeats();

  /** How many octets from index `from` on are those fields, with the empty line behind them; 0: they are others. */
  find(bytes: BorrowedBytes, from: number): number {
    const { octets, repeats } = this;
    if (octets.length === 0 || !repeats.areLikely) return 0;
    const end = from + octets.length;
    // The compared octets end with the first empty line that they have.
    if (end > bytes.length || octets.compare(bytes, from, end) !== 0) return 0;
    repeats.found();
    return octets.length;
  }

  /** The fields that were found, the receiver's own. */
  take(): Fields | undefined {
    return this.kept?.withoutKinds(0);
  }

  /** Takes note of sound fields, which are not changed before this returns, and of their octets with the empty line behind them. */
  note(fields: Fields, bytes: BorrowedBytes, from: number, to: number): void {
    const length = to - from;
    if (!this.repeats.isWorthKeeping(length) || length > maxKeptOctets) return;
    this.octets = Buffer.from(bytes.subarray(from, to));
    this.kept = fields.repeatable();
  }
}
