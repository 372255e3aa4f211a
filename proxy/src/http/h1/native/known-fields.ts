import { KeptOctets } from "../../../http1/kept-octets.ts";
import type { Fields } from "../../../message/fields.ts";
import type { BorrowedBytes } from "../../../sockets/read-buffer.ts";

/**
 * The fields of a request that came before on a connection, for requests whose fields are the same octets: a client that keeps its
 * connection sends few different ones. What was parsed and checked is not parsed and checked again, nor made a string, and the fields
 * keep what is written of them. The same is done with heads of responses (proxy/src/upstream/h1/known-head.ts).
 */
export class KnownFields {
  private readonly kept = new KeptOctets();
  private fields: Fields | undefined = undefined;

  /** How many octets from index `from` on are those fields, with the empty line behind them; 0: they are others. */
  find(bytes: BorrowedBytes, from: number): number {
    return this.kept.find(bytes, from);
  }

  /** The fields that were found, the receiver's own. */
  take(): Fields | undefined {
    return this.fields?.withoutKinds(0);
  }

  /** Takes note of sound fields, which are not changed before this returns, and of their octets with the empty line behind them. */
  note(fields: Fields, bytes: BorrowedBytes, from: number, to: number): void {
    if (!this.kept.isWorthKeeping(to - from)) return;
    this.kept.keep(Buffer.from(bytes.subarray(from, to)));
    this.fields = fields.repeatable();
  }
}
