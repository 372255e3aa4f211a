/**
 * A strict reader of HTTP/1 requests, written from RFC 9112 alone and sharing nothing with the proxy or with Node. It
 * accepts only requests with a single meaning; everything that only a lenient reader understands is an error here.
 */

/** One complete request. Field names as received; `body` is the decoded content. */
export type ReadRequest = {
  readonly method: string;
  readonly target: string;
  readonly version: "1.0" | "1.1";
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
};

/** Complete requests in their order, and how the bytes after the last of them end. */
export type ReadResult = {
  readonly requests: readonly ReadRequest[];
  /** How many bytes they and the empty lines before them take. */
  readonly consumed: number;
  readonly end: "clean" | "incomplete" | { readonly fault: string };
};

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Several spaces between the parts are equivalent to one (RFC 9112 3); the proxy passes on one. */
const requestLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) +([\x21-\x7e]+) +HTTP\/1\.([01])$/;
/** Visible characters, spaces, tabs and obs-text (RFC 9110 5.5). */
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const trimBlanks = (text: string): string => text.replaceAll(/^[ \t]+|[ \t]+$/g, "");

class Fault extends Error {}
class Incomplete extends Error {}

/** Reads the bytes of one connection, one character per byte (latin1). */
export function readRequests(bytes: string): ReadResult {
  const requests: ReadRequest[] = [];
  const cursor = { at: 0 };
  let consumed = 0;
  try {
    for (;;) {
      // RFC 9112 2.2: empty lines before a request line are to be ignored.
      while (bytes[cursor.at] === "\r" || bytes[cursor.at] === "\n") cursor.at++;
      if (cursor.at >= bytes.length) return { requests, consumed: cursor.at, end: "clean" };
      requests.push(readRequest(bytes, cursor));
      consumed = cursor.at;
    }
  } catch (error) {
    if (error instanceof Incomplete) return { requests, consumed, end: "incomplete" };
    if (error instanceof Fault) return { requests, consumed, end: { fault: error.message } };
    throw error;
  }
}

type Cursor = { at: number };

/** The line at the cursor without its CRLF. */
function readLine(bytes: string, cursor: Cursor): string {
  const end = bytes.indexOf("\n", cursor.at);
  const line = bytes.slice(cursor.at, end < 0 ? bytes.length : end);
  // What cannot become right any more is a fault even while the line is incomplete.
  if (/\r./.test(line)) throw new Fault("a bare CR");
  if (end < 0) throw new Incomplete();
  if (!line.endsWith("\r")) throw new Fault("a bare LF");
  cursor.at = end + 1;
  return line.slice(0, -1);
}

function readFields(bytes: string, cursor: Cursor): [string, string][] {
  const fields: [string, string][] = [];
  for (let line = readLine(bytes, cursor); line !== ""; line = readLine(bytes, cursor)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    const value = line.slice(colon + 1);
    if (colon < 0 || !token.test(name)) throw new Fault("a field name that is no token");
    if (!fieldValue.test(value)) throw new Fault("a forbidden character in a field value");
    fields.push([name.toLowerCase(), trimBlanks(value)]);
  }
  return fields;
}

function readRequest(bytes: string, cursor: Cursor): ReadRequest {
  const [, method = "", target = "", minor] = requestLine.exec(readLine(bytes, cursor)) ?? [];
  if (method === "") throw new Fault("no request line");
  const version = minor === "0" ? "1.0" : "1.1";
  const fields = readFields(bytes, cursor);
  const values = (name: string): readonly string[] =>
    fields.flatMap(([each, value]) => (each === name ? [value] : []));
  const hosts = values("host");
  if (hosts.length > 1 || (hosts.length === 0 && version === "1.1")) throw new Fault("not one Host");
  return { method, target, version, fields, body: readBody(bytes, cursor, version, values) };
}

function readBody(
  bytes: string,
  cursor: Cursor,
  version: string,
  values: (name: string) => readonly string[],
): string {
  const lengths = values("content-length");
  const codings = values("transfer-encoding");
  if (codings.length > 0) {
    if (version === "1.0") throw new Fault("a coding in HTTP/1.0");
    if (lengths.length > 0) throw new Fault("a length and a coding");
    if (codings.length > 1 || codings[0]?.toLowerCase() !== "chunked") throw new Fault("another coding");
    return readChunks(bytes, cursor);
  }
  if (lengths.length > 1) throw new Fault("two lengths");
  const [length = "0"] = lengths;
  if (!/^\d+$/.test(length) || !Number.isSafeInteger(Number(length)))
    throw new Fault("a length that is none");
  return take(bytes, cursor, Number(length));
}

function readChunks(bytes: string, cursor: Cursor): string {
  for (let body = ""; ;) {
    const line = readLine(bytes, cursor);
    const [, digits = ""] = /^([0-9A-Fa-f]+)(?:;[\t\x20-\x7e\x80-\xff]*)?$/.exec(line) ?? [];
    const size = Number.parseInt(digits, 16);
    if (digits === "" || !Number.isSafeInteger(size)) throw new Fault("a chunk size that is none");
    if (size === 0) {
      const forbidden = readFields(bytes, cursor).some(([name]) =>
        ["content-length", "transfer-encoding"].includes(name),
      );
      if (forbidden) throw new Fault("a trailer that frames");
      return body;
    }
    body += take(bytes, cursor, size);
    if (bytes.length >= cursor.at + 1 && bytes[cursor.at] !== "\r")
      throw new Fault("a chunk that does not end");
    if (bytes.length >= cursor.at + 2 && bytes[cursor.at + 1] !== "\n")
      throw new Fault("a chunk that does not end");
    take(bytes, cursor, 2);
  }
}

function take(bytes: string, cursor: Cursor, length: number): string {
  if (bytes.length - cursor.at < length) throw new Incomplete();
  const taken = bytes.slice(cursor.at, cursor.at + length);
  cursor.at += length;
  return taken;
}
