import { KeptOctets } from "../../http1/kept-octets.ts";
import { ownText } from "../../message/own-text.ts";
import type { BorrowedBytes } from "../../sockets/read-buffer.ts";
import { parseResponseHead, type ParsedResponseHead } from "./response-head.ts";

/** A head that was found, with fields of the receiver's own, and how many octets it has. */
export type FoundHead = { readonly head: ParsedResponseHead; readonly octets: number };

/**
 * The head of a response that came before from an endpoint, on any of its connections, for those that are the same octets: one that
 * answers many requests within a second, the time that Date shows, sends few different ones. What was parsed is not parsed again, nor
 * made a string, and the fields keep what is written of them.
 */
export class KnownHead {
  private readonly kept = new KeptOctets();
  private parsed: ParsedResponseHead | undefined = undefined;

  /** The head that begins at index `from` of `bytes`; undefined: it is another one. */
  find(bytes: BorrowedBytes, from: number): FoundHead | undefined {
    const octets = this.kept.find(bytes, from);
    const { parsed } = this;
    if (octets === 0 || parsed === undefined) return undefined;
    const { status, length, chunked, keepAlive, keepAliveField, upgradeTo } = parsed;
    const headers = parsed.headers.withoutKinds(0);
    return { head: { status, headers, length, chunked, keepAlive, keepAliveField, upgradeTo }, octets };
  }

  /** Takes note of a sound head of `length` characters that begins `text`. */
  note(text: string, length: number): void {
    if (!this.kept.isWorthKeeping(length)) return;
    const own = ownText(text.slice(0, length));
    const parsed = parseResponseHead(own, 0, length);
    if (!parsed.ok) return;
    this.kept.keep(Buffer.from(own, "latin1"));
    this.parsed = { ...parsed.value, headers: parsed.value.headers.repeatable() };
  }
}
