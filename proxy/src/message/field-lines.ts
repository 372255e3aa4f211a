import type { FieldBlock } from "./field-block.ts";
import { fieldKind, kindOfName } from "./known-names.ts";

/**
 * The field lines of a message as received and checked: one text with `name: value` and CRLF for each, one character
 * per octet, and the positions of its parts. Immutable, so that the received fields and those that are forwarded can
 * share it. The reader of the message creates the text, which may contain more than the lines.
 */
export type FieldLines = {
  readonly text: string;
  /** The packed place of each line (`placeOf`), followed by one for the end of the last line. */
  readonly places: readonly number[];
  /** The kinds of the lines, as a mask (known-names.ts). */
  readonly kinds: number;
  /** The lines as `[name, value, …]`, names in lower case, if they were received in that form (HTTP/2). */
  readonly list: readonly string[] | undefined;
  /** The text last written from these lines, if the same lines are used for many messages. */
  readonly written: LastWritten | undefined;
  /** The last HTTP/2 encoding of these lines, if the same lines are used for many messages. */
  readonly encoded: LastEncoded | undefined;
};

/** The value for fields without received lines. */
export const noLines: FieldLines = {
  text: "",
  places: [0],
  kinds: 0,
  list: undefined,
  written: undefined,
  encoded: undefined,
};

/** The last HTTP/2 encoding of lines that many messages share, as a self-contained block. */
export type LastEncoded = {
  /** The lines that were removed, as a mask. */
  dropped: number;
  /** The encoded block; undefined if nothing has been encoded yet. */
  bytes: Buffer | undefined;
};

/** The text last written from lines that many messages share, with the inputs that determined it. */
export type LastWritten = {
  /** The lines that were removed, as a mask. */
  dropped: number;
  /** The kinds that were omitted (known-names.ts). */
  withoutKinds: number;
  /** The block that followed the lines; undefined if nothing has been written yet. */
  block: FieldBlock | undefined;
  text: string;
};

// The bits of a place, which together fit into a small integer: start of the line, length of its name, kind.
const startBits = 18;
const nameBits = 8;
const maxStart = (1 << startBits) - 1;
const maxNameLength = (1 << nameBits) - 1;

/** Returns the place of a line that begins at `start`; each value must fit into its bits. */
export const placeOf = (start: number, nameLength: number, kind: number): number =>
  start | (nameLength << startBits) | (kind << (startBits + nameBits));

export const startOf = (place: number): number => place & maxStart;
export const nameLengthOf = (place: number): number => (place >> startBits) & maxNameLength;
export const kindOf = (place: number): number => place >> (startBits + nameBits);

/** The length of `: ` between a name and its value. */
const separatorLength = 2;
const crlfLength = 2;
/** The length of a line without its name and value. */
export const syntaxLength = separatorLength + crlfLength;

/** The position at which the value of line `index` begins. */
export const valueStart = (places: readonly number[], index: number): number => {
  const place = places[index] as number;
  return startOf(place) + nameLengthOf(place) + separatorLength;
};

/** The position at which the value of line `index` ends. */
export const valueEnd = (places: readonly number[], index: number): number =>
  startOf(places[index + 1] as number) - crlfLength;

/** Collects the places of lines while they are read. Reused for each message, which gets a copy of exact size. */
export class FieldPlaces {
  private readonly places: number[] = [];
  private count = 0;
  private kinds = 0;
  private fits = true;

  begin(): void {
    this.count = 0;
    this.kinds = 0;
    this.fits = true;
  }

  /** Adds a line in the form in which the proxy writes it. Its name is at `start` to `nameEnd`. */
  add(text: string, start: number, nameEnd: number): void {
    this.addOf(start, nameEnd - start, kindOfName(text, start, nameEnd));
  }

  /** Adds a line whose kind is known. */
  addOf(start: number, nameLength: number, kind: number): void {
    if (nameLength > maxNameLength || start > maxStart) this.fits = false;
    this.kinds |= 1 << kind;
    this.places[this.count++] = placeOf(start, nameLength, kind);
  }

  /** Returns the lines; undefined if a line is too long for a place, or begins too far into the text. */
  finish(text: string, end: number, list?: readonly string[]): FieldLines | undefined {
    if (!this.fits || end > maxStart) return undefined;
    this.places[this.count] = placeOf(end, 0, fieldKind.other);
    const places = this.places.slice(0, this.count + 1);
    return { text, places, kinds: this.kinds, list, written: undefined, encoded: undefined };
  }
}

/** The number of lines that can have a bit in a mask that is a small integer. */
export const maxMaskedLines = 30;

/** Reports whether a line was removed, given the mask of removed lines. */
export const isLineDropped = (mask: number, line: number): boolean =>
  line < maxMaskedLines && ((mask >> line) & 1) === 1;

/** Returns a mask with a bit for each line of the wanted kinds. */
export function maskOf({ places, kinds }: FieldLines, wanted: number): number {
  if ((kinds & wanted) === 0) return 0;
  let mask = 0;
  for (let i = 0; i < places.length - 1; i++) {
    if (((wanted >> kindOf(places[i] as number)) & 1) === 1) mask |= 1 << i;
  }
  return mask;
}
