import { isTokenOctet, isValueOctet } from "./octets.ts";

const foreignToValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Reports whether a name can be written unchanged (RFC 9110 5.1). */
export function isFieldName(name: string): boolean {
  for (let i = 0; i < name.length; i++) if (isTokenOctet[name.charCodeAt(i)] !== 1) return false;
  return name !== "";
}

/** Up to this length a loop is faster than a regex. */
const shortLength = 32;

/** Reports whether a value can be written unchanged: a single line of latin1 without control characters. */
export function isFieldValue(value: string): boolean {
  if (value.length > shortLength) return !foreignToValue.test(value);
  for (let i = 0; i < value.length; i++) if (isValueOctet[value.charCodeAt(i)] !== 1) return false;
  return true;
}
