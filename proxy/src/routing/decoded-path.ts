/** The encoding of pieces of decoded paths (common/src/values/path-segments.ts), and of texts compared with them. */
import { escapeOctet } from "@svc-gateway/common/values/percent-escapes.ts";

const encoded = /[^\w\-.~!$&'()*+,;=:@/[\]]/g;

/** Encodes a piece of a decoded path for a URL (RFC 3986 3.3). */
export const encodedPath = (decoded: string): string => decoded.replaceAll(encoded, escapeOctet);

/** Returns the text of a rule, such as a regex, with characters outside ASCII replaced by their octets in UTF-8. */
export const asOctets = (text: string): string =>
  /[^\0-\u007f]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
