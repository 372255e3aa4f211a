import type { HeaderList, ReadonlyHeaderList } from "./field-list.ts";
import { isFieldName, isFieldValue } from "./field-syntax.ts";
import { kindOfName } from "./known-names.ts";

/** Fields that many messages end with, serialised and checked once. */
export class FieldBlock {
  readonly list: ReadonlyHeaderList;
  /** The lines of the fields; undefined if one of them is malformed. */
  readonly text: string | undefined;

  constructor(list: ReadonlyHeaderList) {
    this.list = list;
    this.text = linesOf(list, { withoutKinds: 0, isSuspect: true });
  }
}

/**
 * Serialises a list as lines, each with its CRLF, without the fields of some kinds. Returns undefined if a name is
 * invalid or a value could end its line early; only a suspect list is checked for that.
 */
export function linesOf(
  list: ReadonlyHeaderList,
  { withoutKinds, isSuspect }: { readonly withoutKinds: number; readonly isSuspect: boolean },
): string | undefined {
  let text = "";
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] as string;
    const value = list[i + 1] as string;
    if (withoutKinds !== 0 && isOfKinds(name, withoutKinds)) continue;
    if (isSuspect && !(isFieldName(name) && isFieldValue(value))) return undefined;
    text += `${name}: ${value}\r\n`;
  }
  return text;
}

/** Returns the fields of a list that are not of these kinds. */
export function listWithoutKinds(list: ReadonlyHeaderList, kinds: number): HeaderList {
  const kept: HeaderList = [];
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] as string;
    if (!isOfKinds(name, kinds)) kept.push(name, list[i + 1] as string);
  }
  return kept;
}

const isOfKinds = (name: string, kinds: number): boolean =>
  ((kinds >> kindOfName(name, 0, name.length)) & 1) === 1;
