import type { CheckedFields } from "../../message/checked-fields.ts";
import type { HeaderList } from "../../message/message.ts";
import {
  carriageReturn,
  colon,
  isBlank,
  isTokenOctet,
  isValueOctet,
  lineFeed,
  space,
} from "../../http1/octets.ts";

const foreignToValue = /[^\t\x20-\x7e\x80-\xff]/;

/** True for a name that can be written as it is (RFC 9110 5.1). */
export function isFieldName(name: string): boolean {
  for (let i = 0; i < name.length; i++) if (isTokenOctet[name.charCodeAt(i)] !== 1) return false;
  return name !== "";
}

/** Up to this length a loop is faster than a regex. */
const shortLength = 32;

/** True for a value that can be written as it is: one line, without control characters, of latin1. */
export function isFieldValue(value: string): boolean {
  if (value.length > shortLength) return !foreignToValue.test(value);
  for (let i = 0; i < value.length; i++) if (isValueOctet[value.charCodeAt(i)] !== 1) return false;
  return true;
}

/** Fields that were read, and their lines where all of them are written as the proxy writes them. */
export type ReadFields = { readonly list: HeaderList; readonly checked: CheckedFields | undefined };

/**
 * Reads field lines (RFC 9112 5) of a latin1 text from `start` up to `end`, where the last line's CRLF ends. Strict:
 * no space before the colon, no folding, no bare CR or LF, no control characters. Returns the fields as they were sent,
 * or undefined when a line is malformed or there are more than `maxFields`.
 */
export function readFields(
  text: string,
  start: number,
  end: number,
  maxFields: number,
): ReadFields | undefined {
  const fields: HeaderList = [];
  const places: number[] = [];
  let isPlain = true;
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
    let valueEnd = i;
    while (valueEnd > valueStart && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd--;
    isPlain &&= valueStart === nameEnd + 2 && text.charCodeAt(nameEnd + 1) === space && valueEnd === i;
    i += 2;
    if (fields.length >= 2 * maxFields) return undefined;
    places.push(nameStart);
    fields.push(text.slice(nameStart, nameEnd), text.slice(valueStart, valueEnd));
  }
  if (i !== end) return undefined;
  places.push(end);
  return { list: fields, checked: isPlain ? { list: fields, lines: { text, places } } : undefined };
}
