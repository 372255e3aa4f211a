import { forwardingNames } from "./protected-names.ts";

/**
 * The kinds of fields that a proxy distinguishes by name. They are small numbers, so that a set of kinds is a bit mask,
 * and a single comparison shows that a message has no field of some kinds.
 */
export const fieldKind = {
  /** A field without a meaning to the proxy. */
  other: 0,
  host: 1,
  connection: 2,
  contentLength: 3,
  transferEncoding: 4,
  expect: 5,
  upgrade: 6,
  te: 7,
  via: 8,
  contentType: 9,
  date: 10,
  keepAlive: 11,
  /** Other fields that concern one connection only (RFC 9110 7.6.1), and `proxy-*`. */
  hopByHop: 12,
  /** A field that a client must not send to a backend, such as `X-Forwarded-For`; in a response an ordinary field. */
  clientClaim: 13,
  /**
   * One of the known names with `_` instead of `-`. Some servers treat both alike, so a client must not be able to
   * smuggle `X_Forwarded_For` past the removal of `X-Forwarded-For`. In a response an ordinary field.
   */
  lookalike: 14,
} as const;

/** Returns the mask of a set of kinds. */
export const kindsMask = (...kinds: readonly (keyof typeof fieldKind)[]): number =>
  kinds.reduce((mask, kind) => mask | (1 << fieldKind[kind]), 0);

type KnownName = { readonly name: string; readonly kind: number };

const known: readonly KnownName[] = [
  { name: "host", kind: fieldKind.host },
  { name: "connection", kind: fieldKind.connection },
  { name: "content-length", kind: fieldKind.contentLength },
  { name: "transfer-encoding", kind: fieldKind.transferEncoding },
  { name: "expect", kind: fieldKind.expect },
  { name: "upgrade", kind: fieldKind.upgrade },
  { name: "te", kind: fieldKind.te },
  { name: "via", kind: fieldKind.via },
  { name: "content-type", kind: fieldKind.contentType },
  { name: "date", kind: fieldKind.date },
  { name: "keep-alive", kind: fieldKind.keepAlive },
  { name: "trailer", kind: fieldKind.hopByHop },
  { name: "http2-settings", kind: fieldKind.clientClaim },
  // CGI passes it to programs as HTTP_PROXY, which redirects their own requests ("httpoxy", CVE-2016-5385).
  { name: "proxy", kind: fieldKind.clientClaim },
  ...forwardingNames.map((name) => ({ name, kind: fieldKind.clientClaim })),
];

/** The number of low bits of a letter that do not depend on its case. */
const letterBits = 5;
const letterMask = (1 << letterBits) - 1;
/** The longest of the known names. */
const maxKnownLength = 31;

/**
 * The known names by length and first letter; most entries are empty. A name that begins with another character can
 * share an entry, but the comparison then fails.
 */
const byStart: readonly (readonly KnownName[] | undefined)[] = Array.from(
  { length: (maxKnownLength + 1) << letterBits },
  (_, place) => {
    const names = known.filter(
      ({ name }) => ((name.length << letterBits) | (name.charCodeAt(0) & letterMask)) === place,
    );
    return names.length === 0 ? undefined : names;
  },
);

const underscore = 0x5f;
const hyphen = 0x2d;
const lowerP = 0x70;
const proxyPrefix = "proxy-";

/** Returns the kind of the field whose name, in any case, is at `start` to `end` of a text. */
export function kindOfName(text: string, start: number, end: number): number {
  const length = end - start;
  const first = text.charCodeAt(start);
  const names = length > maxKnownLength ? undefined : byStart[(length << letterBits) | (first & letterMask)];
  if (names !== undefined) {
    for (let i = 0; i < names.length; i++) {
      const { name, kind } = names[i] as KnownName;
      const likeness = likenessOf(text, start, name);
      if (likeness === same) return kind;
      // `content_type` is not treated as Content-Type by any server.
      if (likeness === alike) return kind === fieldKind.contentType ? fieldKind.other : fieldKind.lookalike;
    }
  }
  if ((first | 0x20) !== lowerP || length < proxyPrefix.length) return fieldKind.other;
  const likeness = likenessOf(text, start, proxyPrefix);
  if (likeness === different) return fieldKind.other;
  return likeness === same && length > proxyPrefix.length ? fieldKind.hopByHop : fieldKind.lookalike;
}

const different = 0;
const alike = 1;
const same = 2;

/** Compares a text from `start` on with a lower-case name, ignoring case; `alike` means equal if `_` counts as `-`. */
function likenessOf(
  text: string,
  start: number,
  name: string,
): typeof different | typeof alike | typeof same {
  let likeness: typeof alike | typeof same = same;
  for (let i = 0; i < name.length; i++) {
    const wanted = name.charCodeAt(i);
    const octet = text.charCodeAt(start + i);
    if (octet === wanted || lowerCase(octet) === wanted) continue;
    if (octet !== underscore || wanted !== hyphen) return different;
    likeness = alike;
  }
  return likeness;
}

/** The octet of a letter in lower case. */
const lowerCase = (octet: number): number => (octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet);

/** Reports whether the text at `start` is this lower-case name, ignoring case; the caller has compared the lengths. */
export function isNameAt(text: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const octet = text.charCodeAt(start + i);
    const wanted = name.charCodeAt(i);
    if (octet !== wanted && lowerCase(octet) !== wanted) return false;
  }
  return true;
}
