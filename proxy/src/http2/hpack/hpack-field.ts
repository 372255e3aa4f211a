import { kindOfName } from "../../message/known-names.ts";
import { ownText } from "../../message/own-text.ts";

/** The bytes that RFC 7541 4.1 adds to name and value for a field in a table. */
const overheadBytes = 32;

/** A decoded field. All repetitions by index share one object, so that facts about it are determined once. */
export class HpackField {
  readonly name: string;
  readonly value: string;
  /** The tag that the judge assigned (field-tags.ts). */
  readonly tag: number;
  /** The kind of the field (known-names.ts). */
  readonly kind: number;
  /** True if the field is in a table, so that it may be received again as this object. */
  readonly isKept: boolean;
  private lineText = "";
  private wasAsked = false;

  constructor(name: string, value: string, tag: number, isKept = true) {
    this.name = name;
    this.value = value;
    this.tag = tag;
    this.kind = kindOfName(name, 0, name.length);
    this.isKept = isKept;
  }

  /** The size of the field in a table. */
  get size(): number {
    return this.name.length + this.value.length + overheadBytes;
  }

  /** The field as an HTTP/1 line with its CRLF. It is cached from its second use on. */
  get line(): string {
    if (this.lineText !== "") return this.lineText;
    const line = `${this.name}: ${this.value}\r\n`;
    if (this.wasAsked) this.lineText = ownText(line);
    this.wasAsked = true;
    return line;
  }
}
