import { kindOfName } from "../../message/known-names.ts";
import { ownText } from "../../message/own-text.ts";

/** What RFC 7541 4.1 counts for a field in a table beyond its name and value. */
const overheadBytes = 32;

/**
 * A field as a block brings it: one object for all its repetitions by index, so that what is found out about it is found out
 * once.
 */
export class HpackField {
  readonly name: string;
  readonly value: string;
  /** What its judge said of it. */
  readonly tag: number;
  /** What it is to a proxy by its name (known-names.ts). */
  readonly kind: number;
  /** It is in a table, so that it may come again as this object. */
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

  /** Its size in a table. */
  get size(): number {
    return this.name.length + this.value.length + overheadBytes;
  }

  /** The field as a line of HTTP/1 with its CRLF. One that is asked for again is kept as a text of its own. */
  get line(): string {
    if (this.lineText !== "") return this.lineText;
    const line = `${this.name}: ${this.value}\r\n`;
    if (this.wasAsked) this.lineText = ownText(line);
    this.wasAsked = true;
    return line;
  }
}
