import type { HeaderList } from "../message/message.ts";
import { fieldOverheadBytes, fieldTag } from "./field-tags.ts";
import type { FieldSink } from "./hpack/decoder.ts";
import type { HpackField } from "./hpack/hpack-field.ts";

/** The limits and rules of trailers. */
export type TrailerRules = {
  /** The most octets, counted as in RFC 9113 6.5.2. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /**
   * Whether a Content-Length is dropped, since it cannot frame anything after the content. If absent, it makes the
   * message malformed, as in the chunked coding of HTTP/1 (RFC 9110 6.5.1).
   */
  readonly dropsLength?: boolean;
};

/** The tags of fields that may be trailers, including some that are handled by name; the pipeline drops Host. */
const trailerTags: ReadonlySet<number> = new Set([
  fieldTag.plain,
  fieldTag.cookie,
  fieldTag.host,
  fieldTag.contentType,
  fieldTag.priority,
]);

/** Receives the trailers of a message. Beyond the limits they are read to their end, but not kept. */
export class TrailerFields implements FieldSink {
  private readonly rules: TrailerRules;
  private readonly fields: HeaderList = [];
  private listBytes = 0;
  private count = 0;
  private isMalformed = false;

  constructor(rules: TrailerRules) {
    this.rules = rules;
  }

  onField({ name, value, tag }: HpackField): void {
    this.listBytes += name.length + value.length + fieldOverheadBytes;
    this.count++;
    if (tag === fieldTag.contentLength && this.rules.dropsLength === true) return;
    // Trailers must not contain framing (RFC 9110 6.5.1).
    if (!trailerTags.has(tag)) this.isMalformed = true;
    else if (!this.isTooLarge) this.fields.push(name, value);
  }

  /** Returns the trailers; undefined if they are malformed, or exceed the limits. */
  finish(): HeaderList | undefined {
    return this.isMalformed || this.isTooLarge ? undefined : this.fields;
  }

  private get isTooLarge(): boolean {
    return this.listBytes > this.rules.maxHeaderBytes || this.count > this.rules.maxHeaders;
  }
}
