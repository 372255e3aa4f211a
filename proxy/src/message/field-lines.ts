import type { FieldBlock } from "./field-block.ts";
import { fieldKind, kindOfName } from "./known-names.ts";

/**
 * The field lines of a message as they were received and checked: one text with `name: value` and CRLF for each, one
 * character per octet, and where its parts are. Immutable, so that the fields that were received and those that go on share
 * it. The text is of the reader's own making, and may hold more than the lines.
 */
export type FieldLines = {
  readonly text: string;
  /** A packed place for each line (`placeOf`), and behind them one for where the last line ends. */
  readonly places: readonly number[];
  /** The kinds of the lines, a mask (known-names.ts). */
  readonly kinds: number;
  /** The lines as `[name, value, …]`, names in lower case, where they came as that (HTTP/2). */
  readonly list: readonly string[] | undefined;
  /** What was written of them last, where the same lines serve many messages. */
  readonly written: LastWritten | undefined;
  /** The same for HTTP/2. */
  readonly encoded: LastEncoded | undefined;
};

/** The lines of fields that have none. */
export const noLines: FieldLines = {
  text: "",
  places: [0],
  kinds: 0,
  list: undefined,
  written: undefined,
  encoded: undefined,
};

/** How lines that serve many messages were encoded last for HTTP/2, as a block on its own. */
export type LastEncoded = {
  /** The lines that were removed, as a mask. */
  dropped: number;
  /** Undefined: nothing has been encoded yet. */
  bytes: Buffer | undefined;
};

/** What was written last of lines that serve many messages, with all that decides about it. */
export type LastWritten = {
  /** The lines that were removed, as a mask. */
  dropped: number;
  /** Kinds that were left out (known-names.ts). */
  withoutKinds: number;
  /** What followed the lines; undefined: nothing has been written yet. */
  block: FieldBlock | undefined;
  text: string;
};

// The bits of a place, all of which fit into a small integer: where the line begins, the length of its name, its kind.
const startBits = 18;
const nameBits = 8;
const maxStart = (1 << startBits) - 1;
const maxNameLength = (1 << nameBits) - 1;

/** The place of a line that begins at `start`; neither of them may be beyond its bits. */
export const placeOf = (start: number, nameLength: number, kind: number): number =>
  start | (nameLength << startBits) | (kind << (startBits + nameBits));

export const startOf = (place: number): number => place & maxStart;
export const nameLengthOf = (place: number): number => (place >> startBits) & maxNameLength;
export const kindOf = (place: number): number => place >> (startBits + nameBits);

/** Between a name and its value. */
const separatorLength = 2;
const crlfLength = 2;
/** What a line has besides its name and value. */
export const syntaxLength = separatorLength + crlfLength;

/** Where the value of line `index` begins. */
export const valueStart = (places: readonly number[], index: number): number => {
  const place = places[index] as number;
  return startOf(place) + nameLengthOf(place) + separatorLength;
};

/** Where it ends. */
export const valueEnd = (places: readonly number[], index: number): number =>
  startOf(places[index + 1] as number) - crlfLength;

/** Gathers the places of lines while they are read; used again for each message, which gets an array of its own size. */
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

  /** Adds a line that is written as the proxy writes it: `nameEnd` is where its name ends. */
  add(text: string, start: number, nameEnd: number): void {
    this.addOf(start, nameEnd - start, kindOfName(text, start, nameEnd));
  }

  /** The same where the kind is known. */
  addOf(start: number, nameLength: number, kind: number): void {
    if (nameLength > maxNameLength || start > maxStart) this.fits = false;
    this.kinds |= 1 << kind;
    this.places[this.count++] = placeOf(start, nameLength, kind);
  }

  /** The lines; undefined where one of them is too long for a place. */
  finish(text: string, end: number, list?: readonly string[]): FieldLines | undefined {
    if (!this.fits || end > maxStart) return undefined;
    this.places[this.count] = placeOf(end, 0, fieldKind.other);
    const places = this.places.slice(0, this.count + 1);
    return { text, places, kinds: this.kinds, list, written: undefined, encoded: undefined };
  }
}

/** So many lines have a bit in a mask that is a small integer. */
export const maxMaskedLines = 30;

/** Whether a line was removed, by the mask of those that were. */
export const isLineDropped = (mask: number, line: number): boolean =>
  line < maxMaskedLines && ((mask >> line) & 1) === 1;

/** The lines of some kinds, a bit for each. */
export function maskOf({ places, kinds }: FieldLines, wanted: number): number {
  if ((kinds & wanted) === 0) return 0;
  let mask = 0;
  for (let i = 0; i < places.length - 1; i++) {
    if (((wanted >> kindOf(places[i] as number)) & 1) === 1) mask |= 1 << i;
  }
  return mask;
}
