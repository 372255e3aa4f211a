import type { ReadonlyHeaderList } from "./field-list.ts";

/** Visits fields. Those stored as text are passed as line `index` of it (field-lines.ts), without building strings. */
export type FieldVisitor = {
  onLine(text: string, places: readonly number[], index: number): void;
  onField(name: string, value: string): void;
};

/** Passes the fields of a list to a visitor, in order. */
export function visitList(list: ReadonlyHeaderList, visitor: FieldVisitor): void {
  for (let i = 0; i < list.length; i += 2) visitor.onField(list[i] as string, list[i + 1] as string);
}
