import type { ReadonlyHeaderList } from "./field-list.ts";

/** Looks at fields, as line `index` of a text (field-lines.ts) where they are text, so that nothing is built for it. */
export type FieldVisitor = {
  onLine(text: string, places: readonly number[], index: number): void;
  onField(name: string, value: string): void;
};

/** Shows the fields of a list in order. */
export function visitList(list: ReadonlyHeaderList, visitor: FieldVisitor): void {
  for (let i = 0; i < list.length; i += 2) visitor.onField(list[i] as string, list[i + 1] as string);
}
