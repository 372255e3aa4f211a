/**
 * A strict reader of HTTP/1 responses, written from RFC 9112 alone and sharing nothing with the proxy or with Node. It
 * returns the responses that a client may get for the bytes of an upstream that has then ended its side.
 */

export type ReadResponse =
  /** A whole message. */
  | {
      readonly kind: "complete";
      readonly status: number;
      readonly body: string;
      /** False if only the end of the connection delimits the response. */
      readonly isDelimited: boolean;
      /** The offset in the bytes, including interim responses, at which the response ends. */
      readonly end: number;
    }
  /** The head is valid, but the rest is broken or missing. */
  | { readonly kind: "cut"; readonly status: number }
  | { readonly kind: "invalid" };

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

type Fields = readonly (readonly [name: string, value: string])[];

const invalid: ReadResponse = { kind: "invalid" };

/** Reads the answer to a request that is neither HEAD nor CONNECT nor asks for an upgrade. */
export function readResponse(bytes: string): ReadResponse {
  let at = 0;
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end < 0) return invalid;
    const [first = "", ...lines] = bytes.slice(at, end).split("\r\n");
    const [, minor, code = ""] = statusLine.exec(first) ?? [];
    const fields = readLines(lines);
    if (minor === undefined || fields === undefined) return invalid;
    const bodyAt = end + 4;
    const status = Number(code);
    const framing = readFraming(fields, minor === "0");
    if (framing === "invalid" || status === 101) return invalid;
    if (status >= 200) return readBody(bytes, bodyAt, status, framing);
    at = bodyAt;
  }
}

function readLines(lines: readonly string[]): Fields | undefined {
  const fields: (readonly [string, string])[] = [];
  for (const line of lines) {
    const [, name, value = ""] = fieldLine.exec(line) ?? [];
    if (name === undefined) return undefined;
    fields.push([name.toLowerCase(), value.replace(/[ \t]+$/, "")]);
  }
  return fields;
}

type Framing = number | "chunked" | "close" | "invalid";

function readFraming(fields: Fields, http10: boolean): Framing {
  const of = (name: string): readonly string[] =>
    fields.flatMap(([each, value]) => (each === name ? [value] : []));
  const codings = of("transfer-encoding");
  // Several are refused even where they are equal, as those of a request are.
  const [length, ...others] = of("content-length");
  if (codings.length > 0) {
    const isPlain = codings.length === 1 && codings[0]?.toLowerCase() === "chunked";
    return isPlain && !http10 && length === undefined ? "chunked" : "invalid";
  }
  if (length === undefined) return "close";
  return others.length === 0 && /^\d{1,15}$/.test(length) ? Number(length) : "invalid";
}

function readBody(bytes: string, at: number, status: number, framing: Framing): ReadResponse {
  const whole = (body: string, end: number, isDelimited = true): ReadResponse => ({
    kind: "complete",
    status,
    body,
    isDelimited,
    end,
  });
  if (status === 204 || status === 304) return whole("", at);
  if (framing === "close") return whole(bytes.slice(at), bytes.length, false);
  if (framing === "chunked") {
    const chunks = readChunks(bytes, at);
    return chunks === undefined ? { kind: "cut", status } : whole(chunks.body, chunks.end);
  }
  const end = at + Number(framing);
  return end > bytes.length ? { kind: "cut", status } : whole(bytes.slice(at, end), end);
}

/** The body, and where it ends; undefined when it is broken, or ends too early. */
function readChunks(
  bytes: string,
  start: number,
): { readonly body: string; readonly end: number } | undefined {
  let body = "";
  for (let at = start; ;) {
    const line = bytes.indexOf("\r\n", at);
    const [, digits = ""] =
      /^([0-9A-Fa-f]{1,13})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/.exec(bytes.slice(at, Math.max(at, line))) ??
      [];
    if (line < 0 || digits === "") return undefined;
    const size = Number.parseInt(digits, 16);
    at = line + 2;
    if (size === 0) {
      const end = bytes.startsWith("\r\n", at) ? at : bytes.indexOf("\r\n\r\n", at) + 2;
      if (end < at || bytes.length < end + 2) return undefined;
      const trailers = bytes.slice(at, end);
      if (trailers !== "" && readLines(trailers.slice(0, -2).split("\r\n")) === undefined) return undefined;
      return { body, end: end + 2 };
    }
    if (!bytes.startsWith("\r\n", at + size) || at + size > bytes.length) return undefined;
    body += bytes.slice(at, at + size);
    at += size + 2;
  }
}
