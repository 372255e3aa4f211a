import type { HeaderList } from "../../message/message.ts";

const tokenSymbols = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Characters of a field name (RFC 9110 5.6.2). */
const isTokenCode = new Uint8Array(256);
for (const symbol of tokenSymbols) isTokenCode[symbol.charCodeAt(0)] = 1;

/** Characters of a field value (RFC 9110 5.5): visible ones, obs-text, space and tab. */
const isValueCode = new Uint8Array(256);
for (let code = 0; code < 256; code++)
  isValueCode[code] = (code >= 0x20 && code !== 0x7f) || code === 9 ? 1 : 0;

const foreignToValue = /[^\t\x20-\x7e\x80-\xff]/;

/** True for a name that can be written as it is (RFC 9110 5.1). */
export function isFieldName(name: string): boolean {
  for (let i = 0; i < name.length; i++) if (isTokenCode[name.charCodeAt(i)] !== 1) return false;
  return name !== "";
}

/** True for a value that can be written as it is: one line, without control characters, of latin1. */
export const isFieldValue = (value: string): boolean => !foreignToValue.test(value);

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const colon = 0x3a;

/**
 * Reads field lines (RFC 9112 5) of a latin1 text from `start` up to `end`, where the last line's CRLF ends. Strict:
 * no space before the colon, no folding, no bare CR or LF, no control characters. Returns the list as it was sent,
 * or undefined when a line is malformed or there are more than `maxFields`.
 */
export function readFields(
  text: string,
  start: number,
  end: number,
  maxFields: number,
): HeaderList | undefined {
  const fields: HeaderList = [];
  let i = start;
  while (i < end) {
    const nameStart = i;
    while (isTokenCode[text.charCodeAt(i)] === 1) i++;
    const nameEnd = i;
    if (nameEnd === nameStart || text.charCodeAt(i) !== colon) return undefined;
    i++;
    while (isBlank(text.charCodeAt(i))) i++;
    const valueStart = i;
    while (isValueCode[text.charCodeAt(i)] === 1) i++;
    if (text.charCodeAt(i) !== carriageReturn || text.charCodeAt(i + 1) !== lineFeed) return undefined;
    let valueEnd = i;
    while (valueEnd > valueStart && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd--;
    i += 2;
    if (fields.length >= 2 * maxFields) return undefined;
    fields.push(text.slice(nameStart, nameEnd), text.slice(valueStart, valueEnd));
  }
  return i === end ? fields : undefined;
}

const isBlank = (code: number): boolean => code === space || code === tab;
