import { type FieldLines, FieldPlaces } from "./field-lines.ts";
import { Fields } from "./fields.ts";
import { fieldKind } from "./known-names.ts";
import type { ListedField, RepeatedLines } from "./repeated-lines.ts";
import { repeatable } from "./written-lines.ts";

/** Fields with more octets are not kept, because what is kept takes memory until their connection is closed. */
const maxRememberedOctets = 4096;

/**
 * Gathers the fields of a message of HTTP/2, which come one by one and were checked: their lines are ready for a backend of
 * HTTP/1, and names and values stay the texts that they are for everything else. Used again for each message.
 */
export class ListedLines {
  private readonly places = new FieldPlaces();
  /** Beyond `count` it holds what is left of earlier messages. */
  private readonly fields: ListedField[] = [];
  private count = 0;
  private octets = 0;
  private areKept = true;
  /** The pieces of a Cookie, and where the first one is. */
  private cookies = 0;
  private cookieAt = 0;

  begin(): void {
    this.count = 0;
    this.octets = 0;
    this.areKept = true;
    this.cookies = 0;
  }

  add(field: ListedField): void {
    this.fields[this.count++] = field;
    this.octets += field.name.length + field.value.length;
    if (!field.isKept) this.areKept = false;
  }

  /** Adds a Cookie, whole or a piece of it: pieces become one field again (RFC 9113 8.2.3). */
  addCookie(field: ListedField): void {
    if (this.cookies++ === 0) this.cookieAt = this.count;
    this.add(field);
  }

  /** The fields, with names in lower case. Those that `last` remembers are not put together again, others are remembered. */
  finish(last: RepeatedLines): Fields {
    if (!this.areKept || this.octets > maxRememberedOctets) return this.fieldsOf(this.putTogether());
    const { fields, count } = this;
    if (last.areThose(fields, count)) {
      last.lines ??= repeatable(this.putTogether());
      return this.fieldsOf(last.lines);
    }
    last.remember(fields, count);
    return this.fieldsOf(this.putTogether());
  }

  private fieldsOf(lines: FieldLines | undefined): Fields {
    return lines === undefined ? Fields.checked(this.list()) : Fields.received(lines);
  }

  /** Undefined where a line is too long for a place. */
  private putTogether(): FieldLines | undefined {
    if (this.cookies > 1) this.joinCookies();
    const { fields, places, count } = this;
    let text = "";
    places.begin();
    for (let i = 0; i < count; i++) {
      const field = fields[i] as ListedField;
      places.addOf(text.length, field.name.length, field.kind);
      text += field.line;
    }
    return places.finish(text, text.length, this.list());
  }

  private list(): string[] {
    const list: string[] = [];
    for (let i = 0; i < this.count; i++) {
      const { name, value } = this.fields[i] as ListedField;
      list.push(name, value);
    }
    return list;
  }

  private joinCookies(): void {
    const { fields, count, cookieAt } = this;
    let { value } = fields[cookieAt] as ListedField;
    let left = cookieAt + 1;
    for (let i = cookieAt + 1; i < count; i++) {
      const field = fields[i] as ListedField;
      if (field.name === "cookie") value += `; ${field.value}`;
      else fields[left++] = field;
    }
    fields[cookieAt] = {
      name: "cookie",
      value,
      kind: fieldKind.other,
      line: `cookie: ${value}\r\n`,
      isKept: false,
    };
    this.count = left;
  }
}
