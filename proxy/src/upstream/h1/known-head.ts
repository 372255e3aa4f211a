import { Repeats } from "../../http1/repeats.ts";
import { ownText } from "../../message/own-text.ts";
import type { BorrowedBytes } from "../../sockets/read-buffer.ts";
import { parseResponseHead, type ParsedResponseHead } from "./response-head.ts";

/** Longer heads are not kept: a kept head takes memory until its endpoint is removed. */
const maxKeptOctets = 1024;

/** A head that was found, with fields of the receiver's own, and how many octets it has. */
export type FoundHead = { readonly head: ParsedResponseHead; readonly octets: number };

const noOctets = Buffer.alloc(0);

/**
 * The head of a response that came before from an endpoint, on any of its connections, for those that are the same octets: one that
 * answers many requests within a second, the time that Date shows, sends few different ones. What was parsed is not parsed again, nor
 * made a string, and the fields keep what is written of them.
 */
export class KnownHead {
  private octets: Buffer = noOctets;
  private parsed: ParsedResponseHead | undefined = undefined;
  private readonly repeats = new Repeats();

  /** The head that begins at index `from` of `bytes`; undefined: it is another one. */
  find(bytes: BorrowedBytes, from: number): FoundHead | undefined {
    const { parsed, octets, repeats } = this;
    if (parsed === undefined || !repeats.areLikely) return undefined;
    const end = from + octets.length;
    // The compared octets end with the empty line behind a head, and have no other.
    if (end > bytes.length || octets.compare(bytes, from, end) !== 0) return undefined;
    repeats.found();
    const { status, length, chunked, keepAlive, keepAliveField, upgradeTo } = parsed;
    const headers = parsed.headers.withoutKinds(0);
    const head = { status, headers, length, chunked, keepAlive, keepAliveField, upgradeTo };
    return { head, octets: octets.length };
  }

  /** Takes note of a sound head of `length` characters that begins `text`. */
  note(text: string, length: number): void {
    if (!this.repeats.isWorthKeeping(length) || length > maxKeptOctets) return;
    const own = ownText(text.slice(0, length));
    const parsed = parseResponseHead(own, 0, length);
    if (!parsed.ok) return;
    this.octets = Buffer.from(own, "latin1");
    this.parsed = { ...parsed.value, headers: parsed.value.headers.repeatable() };
  }
}
