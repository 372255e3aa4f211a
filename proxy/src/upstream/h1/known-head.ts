import { KeptOctets } from "../../http1/kept-octets.ts";
import { ownText } from "../../message/own-text.ts";
import type { BorrowedBytes } from "../../sockets/read-buffer.ts";
import { parseResponseHead, type ParsedResponseHead } from "./response-head.ts";

/** A recognised head, with a copy of its fields for the receiver, and its length in octets. */
export type FoundHead = { readonly head: ParsedResponseHead; readonly octets: number };

/**
 * Keeps a response head of an endpoint, from any of its connections, to recognise later heads with the same octets. An
 * endpoint that answers many requests within a second, the resolution of Date, sends few different heads. A recognised
 * head is neither parsed nor converted to text again, and its fields keep their written form.
 */
export class KnownHead {
  private readonly kept = new KeptOctets();
  private parsed: ParsedResponseHead | undefined = undefined;

  /** Returns the kept head if it begins at index `from` of `bytes`; otherwise undefined. */
  find(bytes: BorrowedBytes, from: number): FoundHead | undefined {
    const octets = this.kept.find(bytes, from);
    const { parsed } = this;
    if (octets === 0 || parsed === undefined) return undefined;
    const { status, length, chunked, keepAlive, keepAliveField, upgradeTo } = parsed;
    const headers = parsed.headers.withoutKinds(0);
    return { head: { status, headers, length, chunked, keepAlive, keepAliveField, upgradeTo }, octets };
  }

  /** Keeps the valid head at the start of `text`, `length` characters long, if that is worthwhile. */
  note(text: string, length: number): void {
    if (!this.kept.isWorthKeeping(length)) return;
    const own = ownText(text.slice(0, length));
    const parsed = parseResponseHead(own, 0, length);
    if (!parsed.ok) return;
    this.kept.keep(Buffer.from(own, "latin1"));
    this.parsed = { ...parsed.value, headers: parsed.value.headers.repeatable() };
  }
}
