import type { HeaderList } from "../message/message.ts";
import { fieldOverheadBytes, fieldTag } from "./field-tags.ts";
import type { FieldSink } from "./hpack/decoder.ts";
import type { HpackField } from "./hpack/hpack-field.ts";

/** What trailers may hold. */
export type TrailerRules = {
  /** Most octets, counted as in RFC 9113 6.5.2. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /**
   * Whether a Content-Length is dropped, which cannot frame anything by then. Absent: the message is malformed, as it is in
   * chunks of HTTP/1 (RFC 9110 6.5.1).
   */
  readonly dropsLength?: boolean;
};

/** Fields that are looked at by name, and may come behind the content all the same; the pipeline drops Host. */
const trailerTags: ReadonlySet<number> = new Set([
  fieldTag.plain,
  fieldTag.cookie,
  fieldTag.host,
  fieldTag.contentType,
  fieldTag.priority,
]);

/** Takes the trailers of a message; beyond the limits they are read to their end and not kept. */
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
    // Framing is over by then (RFC 9110 6.5.1).
    if (!trailerTags.has(tag)) this.isMalformed = true;
    else if (!this.isTooLarge) this.fields.push(name, value);
  }

  /** Undefined for trailers that are malformed, or more than a head may be. */
  finish(): HeaderList | undefined {
    return this.isMalformed || this.isTooLarge ? undefined : this.fields;
  }

  private get isTooLarge(): boolean {
    return this.listBytes > this.rules.maxHeaderBytes || this.count > this.rules.maxHeaders;
  }
}
