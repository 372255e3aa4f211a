import { FieldBlock, linesOf, listWithoutKinds } from "./field-block.ts";
import {
  type FieldLines,
  isLineDropped,
  type LastEncoded,
  maxMaskedLines,
  syntaxLength,
  maskOf,
  nameLengthOf,
  noLines,
  startOf,
  valueEnd,
  valueStart,
} from "./field-lines.ts";
import {
  fieldLines,
  fieldNames,
  fieldPairs,
  firstField,
  hasNameThat,
  type HeaderList,
  isOneOf,
  joinedField,
  keptFields,
  octetsOfList,
  type ReadonlyHeaderList,
} from "./field-list.ts";
import { isFieldName, isFieldValue } from "./field-syntax.ts";
import { type FieldVisitor, visitList } from "./field-visitor.ts";
import { isNameAt } from "./known-names.ts";
import { decimalAt } from "./plain-decimal.ts";
import { encodingOf, repeatable, writtenLines } from "./written-lines.ts";

/** The list of fields that have none of their own; it stays empty. */
const noList: HeaderList = [];
const noBlock = new FieldBlock([]);

/** Any of the known names may be among fields that are kept as a list. */
const anyKind = -1;

/**
 * The header fields of a message (RFC 9110 5), in order and as they were spelt. Names are compared without case; those that
 * methods take to look something up are in lower case.
 *
 * Fields that came over HTTP/1 stay the text that they came in: looking one up builds no string but its value, and a
 * change is recorded, a bit for each line that is removed, and a list of what is added behind. A sender
 * copies runs of that text (`linesText`). Fields that came over HTTP/2 are that text as well, put together of lines that its
 * decoder keeps, and beside it the names and values. What was checked when it was read is not checked again; what is added is
 * checked as it is added. See docs/adr/0032-fields-as-text.md.
 */
export class Fields {
  private lines: FieldLines;
  /** The lines that were removed, as a mask. */
  private dropped = 0;
  /** What follows the lines, and what follows that; nothing else has a reference to the list unless it is `noList`. */
  private block: FieldBlock = noBlock;
  private list: HeaderList;
  /** Something in the list may be unfit to be written. */
  private isSuspect: boolean;

  private constructor(lines: FieldLines, list: HeaderList, isSuspect: boolean) {
    this.lines = lines;
    this.list = list;
    this.isSuspect = isSuspect;
  }

  /** Fields of any source; the list is theirs from now on. They are checked when they are written. */
  static of(list: HeaderList): Fields {
    return new Fields(noLines, list, true);
  }

  /** Fields that one of the proxy's own codecs has read and checked; the list is theirs from now on. */
  static checked(list: HeaderList): Fields {
    return new Fields(noLines, list, false);
  }

  /** The same as lines of text. */
  static received(lines: FieldLines): Fields {
    return new Fields(lines, noList, false);
  }

  /** No fields, to which some may be added. */
  static none(): Fields {
    return new Fields(noLines, noList, false);
  }

  /** False when there is certainly no field of any of these kinds (known-names.ts). */
  mayHave(kinds: number): boolean {
    const isText = this.list.length === 0 && this.block === noBlock;
    return ((isText ? this.lines.kinds : anyKind) & kinds) !== 0;
  }

  /** The value of the first line of a field; undefined when it is absent. */
  first(name: string): string | undefined {
    const line = this.nextLine(name, 0);
    if (line >= 0) return this.valueOf(line);
    return firstField(this.block.list, name) ?? firstField(this.list, name);
  }

  /** The values of the lines of a field, in order. */
  all(name: string): readonly string[] {
    const values: string[] = [];
    for (let i = this.nextLine(name, 0); i >= 0; i = this.nextLine(name, i + 1)) values.push(this.valueOf(i));
    values.push(...fieldLines(this.block.list, name), ...fieldLines(this.list, name));
    return values;
  }

  /**
   * The value of a field, its lines joined in order (RFC 9110 5.3), by `, ` unless `separator` says otherwise; undefined
   * when it is absent.
   */
  joined(name: string, separator: ", " | "," | "; " = ", "): string | undefined {
    let joined: string | undefined;
    for (let i = this.nextLine(name, 0); i >= 0; i = this.nextLine(name, i + 1)) {
      const value = this.valueOf(i);
      joined = joined === undefined ? value : joined + separator + value;
    }
    joined = joinedAfter(joined, joinedField(this.block.list, name, separator), separator);
    return joinedAfter(joined, joinedField(this.list, name, separator), separator);
  }

  /** The value of Cookie, its lines joined by `; ` (RFC 9113 8.2.3); undefined when it is absent. */
  cookies(): string | undefined {
    return this.joined("cookie", "; ");
  }

  /** The number of fields. */
  get count(): number {
    let count = (this.block.list.length + this.list.length) / 2;
    for (let i = 0; i < this.lines.places.length - 1; i++) if (!this.isDropped(i)) count++;
    return count;
  }

  /** The octets of all names and values. */
  get octets(): number {
    return this.octetsWith(0);
  }

  /** The octets of all names and values, and `perField` for each field. */
  octetsWith(perField: number): number {
    const { places } = this.lines;
    let octets = 0;
    for (let i = 0; i < places.length - 1; i++) {
      if (this.isDropped(i)) continue;
      octets += startOf(places[i + 1] as number) - startOf(places[i] as number) - syntaxLength + perField;
    }
    return octets + octetsOfList(this.block.list, perField) + octetsOfList(this.list, perField);
  }

  /** Shows all fields in order. */
  visit(visitor: FieldVisitor): void {
    const { text, places, list } = this.lines;
    for (let i = 0; i < places.length - 1; i++) {
      if (this.isDropped(i)) continue;
      if (list === undefined) visitor.onLine(text, places, i);
      else visitor.onField(list[2 * i] as string, list[2 * i + 1] as string);
    }
    visitList(this.block.list, visitor);
    visitList(this.list, visitor);
  }

  has(name: string): boolean {
    return this.nextLine(name, 0) >= 0 || this.first(name) !== undefined;
  }

  /** Whether the field has more than one line. */
  hasSeveral(name: string): boolean {
    const line = this.nextLine(name, 0);
    if (line >= 0 && this.list.length === 0 && this.block === noBlock)
      return this.nextLine(name, line + 1) >= 0;
    return this.all(name).length > 1;
  }

  /**
   * The value of a field that was received in one line and is a decimal number as programs write it, of at most 15 digits and
   * without leading zeros; undefined in any other case. No string is built.
   */
  plainNumber(name: string): number | undefined {
    const line = this.nextLine(name, 0);
    if (line < 0 || this.hasSeveral(name)) return undefined;
    const { text, places } = this.lines;
    return decimalAt(text, valueStart(places, line), valueEnd(places, line));
  }

  /** The fields as `[name, value, …]`, not to be changed, nor kept while the fields change. */
  toList(): ReadonlyHeaderList {
    const { lines, block, list } = this;
    if (block !== noBlock) return this.copy();
    if (lines === noLines) return list;
    return list.length === 0 && this.dropped === 0 ? (lines.list ?? this.copy()) : this.copy();
  }

  /** The fields as pairs, for what is not done for every message. */
  pairs(): [name: string, value: string][] {
    return fieldPairs(this.toList());
  }

  /** A list of the fields that `isKept` takes, which sees names as they were sent. */
  kept(isKept: (name: string, value: string) => boolean): HeaderList {
    return keptFields(this.toList(), isKept);
  }

  /** The names of the fields, in lower case unless they are to be spelt in another way. */
  names(spell?: (name: string) => string): Set<string> {
    return fieldNames(this.toList(), spell);
  }

  /** The same fields for many messages, which copy them: what is written of their lines is kept with them. */
  repeatable(): Fields {
    const fields = this.withoutKinds(0);
    if (fields.lines !== noLines) fields.lines = repeatable(fields.lines) ?? noLines;
    return fields;
  }

  /** What is kept of how exactly these fields were encoded for HTTP/2; undefined where nothing is to be kept. */
  get encoding(): LastEncoded | undefined {
    const isText = this.list.length === 0 && this.block === noBlock;
    return isText ? encodingOf(this.lines, this.dropped) : undefined;
  }

  /** The same fields without those of some kinds (known-names.ts). Changes of either do not change the other. */
  withoutKinds(kinds: number): Fields {
    const { lines, list } = this;
    if (this.block !== noBlock || lines.places.length > maxMaskedLines) {
      return new Fields(noLines, listWithoutKinds(this.toList(), kinds), this.isSuspect);
    }
    const own = list.length === 0 ? noList : listWithoutKinds(list, kinds);
    const fields = new Fields(lines, own, this.isSuspect);
    fields.dropped = this.dropped | maskOf(lines, kinds);
    return fields;
  }

  /** Takes away the fields of some kinds (known-names.ts). */
  removeKinds(kinds: number): void {
    if (this.block !== noBlock || this.lines.places.length > maxMaskedLines) {
      this.list = listWithoutKinds(this.own(), kinds);
      return;
    }
    if (this.list.length > 0) this.list = listWithoutKinds(this.list, kinds);
    this.dropped |= maskOf(this.lines, kinds);
  }

  /** Adds a field behind the others. */
  append(name: string, value: string): void {
    if (this.list === noList) this.list = [];
    this.list.push(name, value);
    if (!this.isSuspect && !(isFieldName(name) && isFieldValue(value))) this.isSuspect = true;
  }

  /** Adds fields behind the others. */
  appendAll(list: ReadonlyHeaderList): void {
    for (let i = 0; i < list.length; i += 2) this.append(list[i] as string, list[i + 1] as string);
  }

  /** Adds fields that many messages have behind the others. */
  appendBlock(block: FieldBlock): void {
    if (block.list.length === 0) return;
    if (block.text === undefined) return this.appendAll(block.list);
    if (this.block === noBlock && this.list.length === 0) this.block = block;
    else if (this.list === noList) this.list = [...block.list];
    else for (let i = 0; i < block.list.length; i++) this.list.push(block.list[i] as string);
  }

  /** Gives the last field of that name, which may be in any case, another value; without one, appends it. */
  replace(name: string, value: string): void {
    const lower = name.toLowerCase();
    const list = this.own();
    let at = list.length - 2;
    while (at >= 0 && (list[at] as string).toLowerCase() !== lower) at -= 2;
    if (at < 0) return this.append(name, value);
    this.setValue(list, at + 1, value);
  }

  /** Gives the fields for which `change` answers a value that value. */
  rewrite(change: (name: string, value: string) => string | undefined): void {
    const list = this.own();
    for (let i = 0; i < list.length; i += 2) {
      const value = change(list[i] as string, list[i + 1] as string);
      if (value !== undefined) this.setValue(list, i + 1, value);
    }
  }

  /** Puts fields in place of those of the same names, except for cookies, of which there may be any number: they are added. */
  put(fields: ReadonlyHeaderList): void {
    const replaced = fieldNames(fields);
    replaced.delete("set-cookie");
    this.remove(replaced);
    this.appendAll(fields);
  }

  /** Says that the response depends on this field of the request, unless it says so already (RFC 9110 12.5.5). */
  addToVary(name: string): void {
    const present = this.joined("vary");
    const named = present === undefined ? [] : present.toLowerCase().split(/[\s,]+/);
    if (!named.includes("*") && !named.includes(name.toLowerCase())) this.append("Vary", name);
  }

  /** Takes away all fields of these names. */
  remove(names: ReadonlySet<string>): void {
    if (this.lines.places.length > maxMaskedLines) this.own();
    for (const name of names) {
      for (let i = this.nextLine(name, 0); i >= 0; i = this.nextLine(name, i + 1)) this.dropped |= 1 << i;
    }
    this.removeFromList((name) => isOneOf(names, name));
  }

  /** Takes away all fields that `isDropped` takes, which sees names as they were sent. */
  removeThat(isDropped: (name: string) => boolean): void {
    if (this.lines.places.length > maxMaskedLines) this.own();
    for (let i = 0; i < this.lines.places.length - 1; i++) {
      if (!this.isDropped(i) && isDropped(this.nameOf(i))) this.dropped |= 1 << i;
    }
    this.removeFromList(isDropped);
  }

  /**
   * The fields as lines of text, each with its CRLF, without those of some kinds (known-names.ts); undefined when one of them
   * could end its line early, or is no field.
   */
  linesText(withoutKinds = 0): string | undefined {
    const { lines, dropped, block, list, isSuspect } = this;
    const text = lines === noLines ? (block.text ?? "") : writtenLines(lines, dropped, withoutKinds, block);
    if (list.length === 0) return text;
    const own = linesOf(list, { withoutKinds, isSuspect });
    return own === undefined ? undefined : text + own;
  }

  private isDropped(line: number): boolean {
    return isLineDropped(this.dropped, line);
  }

  /** The index of the next line of that name from line `from` on; negative when there is none. */
  private nextLine(name: string, from: number): number {
    const { text, places, list } = this.lines;
    for (let i = from; i < places.length - 1; i++) {
      const place = places[i] as number;
      if (nameLengthOf(place) !== name.length || this.isDropped(i)) continue;
      if (list === undefined ? isNameAt(text, startOf(place), name) : list[2 * i] === name) return i;
    }
    return -1;
  }

  private nameOf(line: number): string {
    const { text, places, list } = this.lines;
    if (list !== undefined) return list[2 * line] as string;
    const place = places[line] as number;
    return text.slice(startOf(place), startOf(place) + nameLengthOf(place));
  }

  private valueOf(line: number): string {
    const { text, places, list } = this.lines;
    if (list !== undefined) return list[2 * line + 1] as string;
    return text.slice(valueStart(places, line), valueEnd(places, line));
  }

  private setValue(list: HeaderList, at: number, value: string): void {
    list[at] = value;
    if (!isFieldValue(value)) this.isSuspect = true;
  }

  private copy(): HeaderList {
    const copy: HeaderList = [];
    for (let i = 0; i < this.lines.places.length - 1; i++) {
      if (!this.isDropped(i)) copy.push(this.nameOf(i), this.valueOf(i));
    }
    copy.push(...this.block.list, ...this.list);
    return copy;
  }

  /** Turns everything into the list, where fields are changed in their places. */
  private own(): HeaderList {
    if (this.lines !== noLines || this.block !== noBlock || this.list === noList) {
      this.list = this.copy();
      this.lines = noLines;
      this.block = noBlock;
      this.dropped = 0;
    }
    return this.list;
  }

  private removeFromList(isDropped: (name: string) => boolean): void {
    if (hasNameThat(this.block.list, isDropped)) {
      this.list = [...this.block.list, ...this.list];
      this.block = noBlock;
    }
    if (!hasNameThat(this.list, isDropped)) return;
    this.list = keptFields(this.list, (name) => !isDropped(name));
  }
}

function joinedAfter(
  first: string | undefined,
  second: string | undefined,
  separator: string,
): string | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return first + separator + second;
}
