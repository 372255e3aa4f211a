import { ownText } from "../../message/own-text.ts";
import { parseResponseHead, type ParsedResponseHead } from "./response-head.ts";

/** Longer heads are not kept, because what is kept takes memory until the connection is closed. */
const maxKeptOctets = 1024;

/**
 * The head of a response that came before on a connection, for those that are the same octets: an endpoint that answers many
 * requests within a second, the time that Date shows, sends few different ones. What was parsed is not parsed again, and the fields
 * keep what is written of them. A head is kept when the one before had its length: heads that differ are nearly never looked at.
 */
export class KnownHead {
  private text = "";
  private parsed: ParsedResponseHead | undefined = undefined;
  private lastLength = 0;

  /** The head of `length` characters that begins `text`, with fields of the receiver's own; undefined: it is another one. */
  find(text: string, length: number): ParsedResponseHead | undefined {
    const { parsed } = this;
    if (parsed === undefined || length !== this.text.length || !text.startsWith(this.text)) return undefined;
    const { status, length: bodyLength, chunked, keepAlive, keepAliveField, upgradeTo } = parsed;
    const headers = parsed.headers.withoutKinds(0);
    return { status, headers, length: bodyLength, chunked, keepAlive, keepAliveField, upgradeTo };
  }

  /** Takes note of a sound head of `length` characters that begins `text`. */
  note(text: string, length: number): void {
    const hadLength = length === this.lastLength;
    this.lastLength = length;
    if (!hadLength || length > maxKeptOctets) return;
    const own = ownText(text.slice(0, length));
    const parsed = parseResponseHead(own, 0, length);
    if (!parsed.ok) return;
    this.text = own;
    this.parsed = { ...parsed.value, headers: parsed.value.headers.repeatable() };
  }
}
