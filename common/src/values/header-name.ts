import { shown } from "./clip.ts";
import { ok, problem, type Problem, type Result } from "./result.ts";

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Every octet except control characters; a horizontal tab is the only one that is allowed inside a value.
const fieldContent = /^[\t\x20-\x7e\x80-\xff]*$/;

const expectedName = "a header name of letters, digits and !#$%&'*+-.^_`|~";

/** Whether a text is a `token` (RFC 9110 section 5.6.2), the form of header names, methods and cookie names. */
export const isToken = (text: string): boolean => token.test(text);

/** Reads a header name (RFC 9110 section 5.1). Its case is kept; comparing names must ignore it. */
export function parseHeaderName(text: string): Result<string, Problem> {
  const name = text.trim();
  if (name.length > 256)
    return problem(`the header name "${name.slice(0, 40)}..." is too long`, expectedName);
  return isToken(name)
    ? ok(name)
    : problem(`${JSON.stringify(shown(name))} is not a header name`, expectedName);
}

/**
 * Whether a string is a header value on the wire (RFC 9110 section 5.5): one character per octet, without CR, LF, NUL
 * and other controls except a tab, and without leading or trailing whitespace.
 */
export function isHeaderValue(value: string): boolean {
  return fieldContent.test(value) && !/^[\t ]|[\t ]$/.test(value);
}

/**
 * Converts configured text to a header value on the wire. Surrounding whitespace is dropped. Characters outside ASCII
 * become the octets of their UTF-8 form, one character per octet, the form of values in header lists. Text with control
 * characters is rejected, so no configuration can split a header. An empty value is valid.
 *
 * Apply it once, to configuration; values that are already in wire form are checked with `isHeaderValue`.
 */
export function parseHeaderValue(text: string): Result<string, Problem> {
  const value = Buffer.from(text.trim(), "utf8").toString("latin1");
  return isHeaderValue(value)
    ? ok(value)
    : problem("the header value holds a control character", "a header value on one line");
}
