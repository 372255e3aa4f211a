const lowerCaseEscape = /%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f])/g;

/**
 * The path with the hexadecimal digits of its percent escapes in upper case: `%c3` and `%C3` are the same octet
 * (RFC 3986 6.2.2.1). See docs/adr/0018-case-of-escapes.md.
 */
export const upperCaseEscapes = (path: string): string =>
  path.includes("%") ? path.replaceAll(lowerCaseEscape, (escape) => escape.toUpperCase()) : path;

/** The percent escape of an octet, passed as one character (RFC 3986 2.1). */
export const escapeOctet = (char: string): string =>
  `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** Percent-encodes every octet except the unreserved ones (RFC 3986 2.3). `text` has one character per octet. */
export const escapeComponent = (text: string): string => text.replaceAll(/[^A-Za-z0-9._~-]/g, escapeOctet);

const anyEscape = /%([0-9A-Fa-f]{2})/g;

/** The text with its escapes decoded, one character per octet; a `%` that does not begin an escape is kept. */
export const decodeOctets = (text: string): string =>
  text.includes("%")
    ? text.replaceAll(anyEscape, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : text;
