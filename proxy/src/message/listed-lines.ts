import { FieldPlaces } from "./field-lines.ts";
import { Fields } from "./fields.ts";

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
  /** Beyond `count` it holds what is left of earlier messages. */
  private readonly fields: ListedField[] = [];
  /** How many fields there are. */
  count = 0;

  begin(): void {
    this.count = 0;
  }

  add(field: ListedField): void {
    this.fields[this.count++] = field;
  }

  /** The field that is `index`th, from 0. */
  at(index: number): ListedField {
    return this.fields[index] as ListedField;
  }

  /** Puts a field in the place of another. */
  replace(index: number, field: ListedField): void {
    this.fields[index] = field;
  }

  /** The fields, with names in lower case. */
  finish(): Fields {
    const { fields, places, count } = this;
    const list: string[] = [];
    let text = "";
    places.begin();
    for (let i = 0; i < count; i++) {
      const field = fields[i] as ListedField;
      const { name } = field;
      places.addOf(text.length, name.length, field.kind);
      text += field.line;
      list.push(name, field.value);
    }
    const lines = places.finish(text, text.length, list);
    return lines === undefined ? Fields.checked(list) : Fields.received(lines);
  }
}
