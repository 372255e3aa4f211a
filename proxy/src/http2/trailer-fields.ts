import type { HeaderList } from "../message/message.ts";
import { fieldOverheadBytes, fieldTag } from "./field-tags.ts";
import type { FieldSink } from "./hpack/decoder.ts";
import type { HpackField } from "./hpack/hpack-field.ts";

/** Most octets, counted as in RFC 9113 6.5.2, and most fields. */
export type TrailerLimits = { readonly maxHeaderBytes: number; readonly maxHeaders: number };

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
  private readonly limits: TrailerLimits;
  private readonly fields: HeaderList = [];
  private listBytes = 0;
  private count = 0;
  private isMalformed = false;

  constructor(limits: TrailerLimits) {
    this.limits = limits;
  }

  onField({ name, value, tag }: HpackField): void {
    this.listBytes += name.length + value.length + fieldOverheadBytes;
    this.count++;
    // Framing is over by then (RFC 9110 6.5.1).
    if (!trailerTags.has(tag)) this.isMalformed = true;
    else if (!this.isTooLarge) this.fields.push(name, value);
  }

  /** Undefined for trailers that are malformed, or more than a head may be. */
  finish(): HeaderList | undefined {
    return this.isMalformed || this.isTooLarge ? undefined : this.fields;
  }

  private get isTooLarge(): boolean {
    return this.listBytes > this.limits.maxHeaderBytes || this.count > this.limits.maxHeaders;
  }
}
