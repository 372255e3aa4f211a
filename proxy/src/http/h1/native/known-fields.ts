import { KeptOctets } from "../../../http1/kept-octets.ts";
import type { Fields } from "../../../message/fields.ts";
import type { BorrowedBytes } from "../../../sockets/read-buffer.ts";

/**
 * The fields of an earlier request on a connection, for later requests with the same octets: a client that keeps its
 * connection sends few different ones. Such fields are not parsed, checked or converted to a string again, and they
 * cache the text that is written from them. Heads of responses are treated likewise
 * (proxy/src/upstream/h1/known-head.ts).
 */
export class KnownFields {
  private readonly kept = new KeptOctets();
  private fields: Fields | undefined = undefined;

  /** Returns the number of octets from `from` on that are these fields and the empty line; 0 if they are others. */
  find(bytes: BorrowedBytes, from: number): number {
    return this.kept.find(bytes, from);
  }

  /** Returns a copy of the fields that were found, which the caller may change. */
  take(): Fields | undefined {
    return this.fields?.withoutKinds(0);
  }

  /** Remembers valid fields, and their octets including the empty line. The fields must not have been changed yet. */
  note(fields: Fields, bytes: BorrowedBytes, from: number, to: number): void {
    if (!this.kept.isWorthKeeping(to - from)) return;
    this.kept.keep(Buffer.from(bytes.subarray(from, to)));
    this.fields = fields.repeatable();
  }
}
