const lowerCaseEscape = /%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f])/g;

/**
 * The path with the hexadecimal digits of its percent escapes in upper case: `%c3` and `%C3` are the same octet
 * (RFC 3986 6.2.2.1). See docs/adr/0018-case-of-escapes.md.
 */
export const upperCaseEscapes = (path: string): string =>
  path.includes("%") ? path.replaceAll(lowerCaseEscape, (escape) => escape.toUpperCase()) : path;
