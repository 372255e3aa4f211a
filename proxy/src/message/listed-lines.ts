import { FieldPlaces } from "./field-lines.ts";
import { Fields } from "./fields.ts";
import { kindOfName } from "./known-names.ts";

/** A field with its line of HTTP/1, and its kind (known-names.ts). */
export type ListedField = {
  readonly name: string;
  readonly value: string;
  readonly kind: number;
  readonly line: string;
};

/**
 * Gathers the fields of a message of HTTP/2, which come one by one and were checked: their lines are ready for a backend of
 * HTTP/1, and names and values stay the texts that they are for everything else. Used again for each message.
 */
export class ListedLines {
  private readonly places = new FieldPlaces();
  /** Beyond `length` it holds what is left of earlier messages. */
  private readonly list: string[] = [];
  private length = 0;
  private text = "";
  private hasChanged = false;

  begin(): void {
    this.places.begin();
    this.length = 0;
    this.text = "";
    this.hasChanged = false;
  }

  add({ name, value, kind, line }: ListedField): void {
    this.places.addOf(this.text.length, name.length, kind);
    this.text += line;
    this.list[this.length++] = name;
    this.list[this.length++] = value;
  }

  /** Where the value of the next field will be. */
  get nextValueAt(): number {
    return this.length + 1;
  }

  /** Appends to a value. */
  extend(valueAt: number, text: string): void {
    this.list[valueAt] += text;
    this.hasChanged = true;
  }

  /** The fields, with names in lower case. */
  finish(): Fields {
    const list = this.list.slice(0, this.length);
    if (this.hasChanged) this.putTogetherAgain(list);
    const { text } = this;
    const lines = this.places.finish(text, text.length, list);
    this.text = "";
    return lines === undefined ? Fields.checked(list) : Fields.received(lines);
  }

  private putTogetherAgain(list: readonly string[]): void {
    this.begin();
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i] as string;
      this.places.addOf(this.text.length, name.length, kindOfName(name, 0, name.length));
      this.text += `${name}: ${list[i + 1] as string}\r\n`;
    }
  }
}
