import { type FieldLines, FieldPlaces } from "./field-lines.ts";
import { Fields } from "./fields.ts";
import { fieldKind } from "./known-names.ts";
import type { ListedField, RepeatedLines } from "./repeated-lines.ts";
import { repeatable } from "./written-lines.ts";

/** Fields with more octets are not remembered, because remembered ones use memory until their connection is closed. */
const maxRememberedOctets = 4096;

/**
 * Collects the decoded and checked fields of an HTTP/2 message. Each has a line that is ready for an HTTP/1 backend;
 * its name and value are used unchanged for everything else. Reused for each message.
 */
export class ListedLines {
  private readonly places = new FieldPlaces();
  /** Entries from `count` on are left over from earlier messages. */
  private readonly fields: ListedField[] = [];
  private count = 0;
  private octets = 0;
  private areKept = true;
  /** The number of Cookie fields, and the index of the first one. */
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

  /** Adds a Cookie field, which may be one of several pieces: `finish` joins them (RFC 9113 8.2.3). */
  addCookie(field: ListedField): void {
    if (this.cookies++ === 0) this.cookieAt = this.count;
    this.add(field);
  }

  /**
   * Returns the fields, with names in lower case. If `last` remembers the same fields, their lines are not assembled
   * again; otherwise it remembers these.
   */
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

  /** Assembles the lines; undefined if a line is too long for a place. */
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
