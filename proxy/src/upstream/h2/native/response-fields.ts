import { fieldTag } from "../../../http2/field-tags.ts";
import type { FieldSink } from "../../../http2/hpack/decoder.ts";
import type { HpackField } from "../../../http2/hpack/hpack-field.ts";
import { hopByHopKinds } from "../../../message/hop-by-hop.ts";
import type { HeaderList } from "../../../message/message.ts";
import { maxFields, maxHeadBytes } from "../response-rules.ts";

/**
 * Collects the fields of one response head and validates them (RFC 9113 8.1, 8.2, 8.3.2). Fields are read one at a
 * time, so that a list beyond the limits is read to its end but not kept. Reused for the next head.
 */
export class ResponseFields implements FieldSink {
  /** The end-to-end fields (docs/features/forwarding.md, "Hop-by-hop fields"). */
  headers: HeaderList = [];
  /** The value of `:status`; -1 if there was none. */
  status = -1;
  /** Value of Content-Length; not exact above 2^53. */
  length: number | undefined = undefined;
  /** Size of all names and values, including those of hop-by-hop fields. */
  bytes = 0;
  /** Number of fields, including hop-by-hop fields. */
  fields = 0;
  private isMalformed = false;

  begin(): void {
    this.headers = [];
    this.status = -1;
    this.length = undefined;
    this.bytes = 0;
    this.fields = 0;
    this.isMalformed = false;
  }

  onField({ name, value, tag, kind }: HpackField): void {
    switch (tag) {
      case fieldTag.plain:
        if (((hopByHopKinds >> kind) & 1) === 1) return this.count(name, value);
        return this.add(name, value);
      case fieldTag.contentType:
      case fieldTag.cookie:
      case fieldTag.host:
      case fieldTag.priority:
        return this.add(name, value);
      case fieldTag.contentLength:
        if (this.length !== undefined) this.isMalformed = true;
        this.length = Number(value);
        return this.add(name, value);
      case fieldTag.status:
        if (this.status >= 0 || this.fields > 0) this.isMalformed = true;
        this.status = Number(value);
        return;
      default:
        this.isMalformed = true;
    }
  }

  /**
   * Reports whether the fields form a valid head. A 1xx or 204 has no length (RFC 9110 8.6); a 0 in a 204 is removed.
   */
  finish(): boolean {
    if (this.isMalformed || this.status < 0) return false;
    if (this.length === undefined || (this.status >= 200 && this.status !== 204)) return true;
    if (this.status !== 204 || this.length !== 0) return false;
    this.length = undefined;
    // Names are at the even places; a value can have the same text.
    for (let at = 0; at < this.headers.length; at += 2) {
      if (this.headers[at] === "content-length") this.headers.splice(at, 2);
    }
    return true;
  }

  private count(name: string, value: string): void {
    this.fields++;
    this.bytes += name.length + value.length;
  }

  private add(name: string, value: string): void {
    this.count(name, value);
    if (this.bytes <= maxHeadBytes && this.fields <= maxFields) this.headers.push(name, value);
  }
}
