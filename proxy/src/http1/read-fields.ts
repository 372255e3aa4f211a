import { FieldPlaces } from "../message/field-lines.ts";
import { Fields } from "../message/fields.ts";
import type { HeaderList } from "../message/message.ts";
import {
  carriageReturn,
  colon,
  isBlank,
  isTokenOctet,
  isValueOctet,
  lineFeed,
  space,
} from "../message/octets.ts";

/** The places of the lines that are being read. Shared by all calls, because reading is synchronous. */
const placesOfLines = new FieldPlaces();

/**
 * Reads field lines (RFC 9112 5) of a latin1 text from `start` to `end`, which is after the CRLF of the last line.
 * Strict: no space before the colon, no folding, no bare CR or LF, no control characters. Returns the fields as they
 * were sent, or undefined when a line is malformed or there are more than `maxFields`.
 */
export function readFields(text: string, start: number, end: number, maxFields: number): Fields | undefined {
  const places = placesOfLines;
  places.begin();
  let isPlain = true;
  let count = 0;
  let i = start;
  while (i < end) {
    const nameStart = i;
    while (isTokenOctet[text.charCodeAt(i)] === 1) i++;
    const nameEnd = i;
    if (nameEnd === nameStart || text.charCodeAt(i) !== colon) return undefined;
    i++;
    while (isBlank(text.charCodeAt(i))) i++;
    const valueStart = i;
    while (isValueOctet[text.charCodeAt(i)] === 1) i++;
    if (text.charCodeAt(i) !== carriageReturn || text.charCodeAt(i + 1) !== lineFeed) return undefined;
    // A value that consists of blanks is empty.
    const endsPlain = i === valueStart || !isBlank(text.charCodeAt(i - 1));
    isPlain &&= valueStart === nameEnd + 2 && text.charCodeAt(nameEnd + 1) === space && endsPlain;
    i += 2;
    if (++count > maxFields) return undefined;
    places.add(text, nameStart, nameEnd);
  }
  if (i !== end) return undefined;
  const lines = isPlain ? places.finish(text, end) : undefined;
  return lines === undefined ? Fields.checked(readList(text, start, end)) : Fields.received(lines);
}

/** Reads lines that are well formed, but not in the form in which the proxy writes them. */
function readList(text: string, start: number, end: number): HeaderList {
  const list: HeaderList = [];
  for (let i = start; i < end;) {
    const nameEnd = text.indexOf(":", i);
    const lineEnd = text.indexOf("\r", nameEnd);
    list.push(text.slice(i, nameEnd), trimBlanks(text, nameEnd + 1, lineEnd));
    i = lineEnd + 2;
  }
  return list;
}

function trimBlanks(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}
