/** Octets of HTTP/1 messages, and the octets that each part may contain. */

export const tab = 0x09;
export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
export const space = 0x20;
export const quote = 0x22;
export const slash = 0x2f;
export const colon = 0x3a;
export const semicolon = 0x3b;
export const equals = 0x3d;
export const backslash = 0x5c;

const tokenSymbols = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** 1 for each octet of a token: field names and methods (RFC 9110 5.6.2). */
export const isTokenOctet = new Uint8Array(256);
for (const symbol of tokenSymbols) isTokenOctet[symbol.charCodeAt(0)] = 1;

/** 1 for each octet of a field value (RFC 9110 5.5): visible ones, obs-text, space and tab. */
export const isValueOctet = new Uint8Array(256);
/** 1 for each octet of a request target: the visible ones of ASCII (RFC 9112 3.2, RFC 3986 2). */
export const isTargetOctet = new Uint8Array(256);
for (let octet = 0; octet < 256; octet++) {
  isValueOctet[octet] = (octet >= space && octet !== 0x7f) || octet === tab ? 1 : 0;
  isTargetOctet[octet] = octet > space && octet < 0x7f ? 1 : 0;
}

/** Reports whether an octet is optional whitespace around a field value (OWS, RFC 9110 5.6.3). */
export const isBlank = (octet: number): boolean => octet === space || octet === tab;
