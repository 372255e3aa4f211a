import type { FieldLines } from "./field-lines.ts";

/** A field with its line of HTTP/1, and its kind (known-names.ts). */
export type ListedField = {
  readonly name: string;
  readonly value: string;
  readonly kind: number;
  readonly line: string;
  /** Its decoder keeps it in a table: it may come again as the same object. */
  readonly isKept: boolean;
};

/**
 * The fields of the last message on a connection and, once they have come twice, their lines. A decoder keeps a field that
 * repeats as one object, so that a few references say whether a whole head is the same as the one before.
 */
export class RepeatedLines {
  /** Of these fields; undefined while they have come once. */
  lines: FieldLines | undefined = undefined;
  private readonly fields: ListedField[] = [];

  /** Whether the first `count` of `fields` are those of the last message. */
  areThose(fields: readonly ListedField[], count: number): boolean {
    if (count !== this.fields.length) return false;
    for (let i = 0; i < count; i++) if (fields[i] !== this.fields[i]) return false;
    return true;
  }

  /** Takes the first `count` of `fields` for those of the last message. */
  remember(fields: readonly ListedField[], count: number): void {
    this.lines = undefined;
    this.fields.length = count;
    for (let i = 0; i < count; i++) this.fields[i] = fields[i] as ListedField;
  }
}
