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

/** The shared list of `Fields` that have no list yet; it stays empty. */
const noList: HeaderList = [];
const noBlock = new FieldBlock([]);

/** The mask for fields kept as a list, which may contain any kind. */
const anyKind = -1;

/**
 * The header fields of a message (RFC 9110 5), in order and as they were spelt. Names are compared without case; those
 * passed to lookups must be in lower case.
 *
 * Fields received over HTTP/1 are kept as the text that was received. A lookup creates no string except the value.
 * Changes are recorded: a bit for each removed line, and a list of the fields added at the end. A sender copies runs of
 * the text (`linesText`). Fields received over HTTP/2 are kept as such a text as well, assembled from lines that the
 * decoder keeps, together with the names and values. Received fields are not checked again; added ones are checked when
 * they are added. See docs/adr/0032-fields-as-text.md.
 */
export class Fields {
  private lines: FieldLines;
  /** The removed lines, as a mask. */
  private dropped = 0;
  /** The fields after the lines: those of a block, then those of a list, which is not shared unless it is `noList`. */
  private block: FieldBlock = noBlock;
  private list: HeaderList;
  /** True if the list may contain a field that cannot be written. */
  private isSuspect: boolean;

  private constructor(lines: FieldLines, list: HeaderList, isSuspect: boolean) {
    this.lines = lines;
    this.list = list;
    this.isSuspect = isSuspect;
  }

  /** Takes ownership of a list from any source, which is checked when it is written. */
  static of(list: HeaderList): Fields {
    return new Fields(noLines, list, true);
  }

  /** Takes ownership of a list that one of the proxy's own codecs has read and checked. */
  static checked(list: HeaderList): Fields {
    return new Fields(noLines, list, false);
  }

  /** Wraps lines that one of the proxy's own codecs has read and checked. */
  static received(lines: FieldLines): Fields {
    return new Fields(lines, noList, false);
  }

  /** Returns an empty set of fields, to which more can be added. */
  static none(): Fields {
    return new Fields(noLines, noList, false);
  }

  /** Returns false if no field is of any of these kinds (known-names.ts); true means that one may be. */
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
   * Returns the value of a field, with its lines joined in order by `separator` (RFC 9110 5.3); undefined if the field
   * is absent.
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

  /** Returns the octets of all names and values, plus `perField` for each field. */
  octetsWith(perField: number): number {
    const { places } = this.lines;
    let octets = 0;
    for (let i = 0; i < places.length - 1; i++) {
      if (this.isDropped(i)) continue;
      octets += startOf(places[i + 1] as number) - startOf(places[i] as number) - syntaxLength + perField;
    }
    return octets + octetsOfList(this.block.list, perField) + octetsOfList(this.list, perField);
  }

  /** Passes all fields to a visitor, in order. */
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
   * Returns the value of a field that was received in a single line as a decimal number of at most 15 digits without
   * leading zeros; undefined in any other case. Allocates nothing.
   */
  plainNumber(name: string): number | undefined {
    const line = this.nextLine(name, 0);
    if (line < 0 || this.hasSeveral(name)) return undefined;
    const { text, places } = this.lines;
    return decimalAt(text, valueStart(places, line), valueEnd(places, line));
  }

  /** Returns the fields as `[name, value, …]`. The list must not be changed, nor kept while the fields change. */
  toList(): ReadonlyHeaderList {
    const { lines, block, list } = this;
    if (block !== noBlock) return this.copy();
    if (lines === noLines) return list;
    return list.length === 0 && this.dropped === 0 ? (lines.list ?? this.copy()) : this.copy();
  }

  /** Returns the fields as pairs. Allocates, so not for use on every message. */
  pairs(): [name: string, value: string][] {
    return fieldPairs(this.toList());
  }

  /** Returns the fields for which `isKept` returns true; it gets names as they were sent. */
  kept(isKept: (name: string, value: string) => boolean): HeaderList {
    return keptFields(this.toList(), isKept);
  }

  /** Returns the names of the fields, converted by `spell`: to lower case by default. */
  names(spell?: (name: string) => string): Set<string> {
    return fieldNames(this.toList(), spell);
  }

  /** Returns a copy for use in many messages, which copy it in turn: it caches the text written from its lines. */
  repeatable(): Fields {
    const fields = this.withoutKinds(0);
    if (fields.lines !== noLines) fields.lines = repeatable(fields.lines) ?? noLines;
    return fields;
  }

  /** The cache for the HTTP/2 encoding of exactly these fields; undefined if it must not be cached. */
  get encoding(): LastEncoded | undefined {
    const isText = this.list.length === 0 && this.block === noBlock;
    return isText ? encodingOf(this.lines, this.dropped) : undefined;
  }

  /** Returns a copy without the fields of some kinds (known-names.ts). Later changes of one do not affect the other. */
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

  /** Removes the fields of some kinds (known-names.ts). */
  removeKinds(kinds: number): void {
    if (this.block !== noBlock || this.lines.places.length > maxMaskedLines) {
      this.list = listWithoutKinds(this.own(), kinds);
      return;
    }
    if (this.list.length > 0) this.list = listWithoutKinds(this.list, kinds);
    this.dropped |= maskOf(this.lines, kinds);
  }

  /** Adds a field at the end. */
  append(name: string, value: string): void {
    if (this.list === noList) this.list = [];
    this.list.push(name, value);
    if (!this.isSuspect && !(isFieldName(name) && isFieldValue(value))) this.isSuspect = true;
  }

  /** Adds fields at the end. */
  appendAll(list: ReadonlyHeaderList): void {
    for (let i = 0; i < list.length; i += 2) this.append(list[i] as string, list[i + 1] as string);
  }

  /** Adds fields that many messages share at the end. */
  appendBlock(block: FieldBlock): void {
    if (block.list.length === 0) return;
    if (block.text === undefined) return this.appendAll(block.list);
    if (this.block === noBlock && this.list.length === 0) this.block = block;
    else if (this.list === noList) this.list = [...block.list];
    else for (let i = 0; i < block.list.length; i++) this.list.push(block.list[i] as string);
  }

  /** Changes the value of the last field of that name, in any case; appends a field if there is none. */
  replace(name: string, value: string): void {
    const lower = name.toLowerCase();
    const list = this.own();
    let at = list.length - 2;
    while (at >= 0 && (list[at] as string).toLowerCase() !== lower) at -= 2;
    if (at < 0) return this.append(name, value);
    this.setValue(list, at + 1, value);
  }

  /** Calls `change` for each field and sets the value that it returns, if any. */
  rewrite(change: (name: string, value: string) => string | undefined): void {
    const list = this.own();
    for (let i = 0; i < list.length; i += 2) {
      const value = change(list[i] as string, list[i + 1] as string);
      if (value !== undefined) this.setValue(list, i + 1, value);
    }
  }

  /** Replaces all fields of the same names with these; Set-Cookie fields are added, since there may be several. */
  put(fields: ReadonlyHeaderList): void {
    const replaced = fieldNames(fields);
    replaced.delete("set-cookie");
    this.remove(replaced);
    this.appendAll(fields);
  }

  /** Adds the name of a request field to Vary, unless it is already listed or `*` is (RFC 9110 12.5.5). */
  addToVary(name: string): void {
    const present = this.joined("vary");
    const named = present === undefined ? [] : present.toLowerCase().split(/[\s,]+/);
    if (!named.includes("*") && !named.includes(name.toLowerCase())) this.append("Vary", name);
  }

  /** Removes all fields of these names. */
  remove(names: ReadonlySet<string>): void {
    if (this.lines.places.length > maxMaskedLines) this.own();
    for (const name of names) {
      for (let i = this.nextLine(name, 0); i >= 0; i = this.nextLine(name, i + 1)) this.dropped |= 1 << i;
    }
    this.removeFromList((name) => isOneOf(names, name));
  }

  /** Removes all fields for which `isDropped` returns true; it gets names as they were sent. */
  removeThat(isDropped: (name: string) => boolean): void {
    if (this.lines.places.length > maxMaskedLines) this.own();
    for (let i = 0; i < this.lines.places.length - 1; i++) {
      if (!this.isDropped(i) && isDropped(this.nameOf(i))) this.dropped |= 1 << i;
    }
    this.removeFromList(isDropped);
  }

  /**
   * Serialises the fields as lines, each with its CRLF, without those of some kinds (known-names.ts). Returns undefined
   * if a name is invalid or a value could end its line early.
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

  /** Returns the index of the next line of that name from line `from` on; negative if there is none. */
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

  /** Converts everything to the list, in which fields can be changed in place. */
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
