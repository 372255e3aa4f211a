/** A user's name and password as the client sent them (RFC 7617). */
export type BasicCredentials = { readonly name: string; readonly password: string };

const scheme = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
/** The maximum length of the field, more than any credentials need. Bounded because a comparison hashes all of it. */
const maxLength = 4_096;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads Basic credentials in UTF-8 from the value of Authorization (RFC 7617 2.1); undefined when it holds none. The
 * name ends at the first colon.
 */
export function readBasicCredentials(authorization: string | undefined): BasicCredentials | undefined {
  if (authorization === undefined || authorization.length > maxLength) return undefined;
  const encoded = scheme.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = decode(Buffer.from(encoded, "base64"));
  const colon = text?.indexOf(":") ?? -1;
  if (text === undefined || colon < 0) return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
