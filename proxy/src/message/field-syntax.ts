import { isTokenOctet, isValueOctet } from "./octets.ts";

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
