import type { FieldLines } from "./field-lines.ts";

/** A field with its HTTP/1 line and its kind (known-names.ts). */
export type ListedField = {
  readonly name: string;
  readonly value: string;
  readonly kind: number;
  readonly line: string;
  /** True if the decoder keeps the field in a table, so that it may be received again as the same object. */
  readonly isKept: boolean;
};

/**
 * The fields of the last message on a connection and, once they have been received twice, their lines. A decoder keeps
 * a repeated field as one object, so comparing a few references shows whether a whole head is the same as the one
 * before.
 */
export class RepeatedLines {
  /** The lines of these fields; undefined while they have been received only once. */
  lines: FieldLines | undefined = undefined;
  private readonly fields: ListedField[] = [];

  /** Reports whether the first `count` of `fields` are those of the last message. */
  areThose(fields: readonly ListedField[], count: number): boolean {
    if (count !== this.fields.length) return false;
    for (let i = 0; i < count; i++) if (fields[i] !== this.fields[i]) return false;
    return true;
  }

  /** Stores the first `count` of `fields` as those of the last message. */
  remember(fields: readonly ListedField[], count: number): void {
    this.lines = undefined;
    this.fields.length = count;
    for (let i = 0; i < count; i++) this.fields[i] = fields[i] as ListedField;
  }
}
