import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { Fields } from "../../message/fields.ts";
import { connectionOptions, hopByHopKinds, removeNamedOptions } from "../../message/hop-by-hop.ts";
import { kindsMask } from "../../message/known-names.ts";
import { readFields } from "../../http1/read-fields.ts";

/** Most bytes of a response head, and of a trailer section (docs/features/upstream.md, "Limits"). */
export const maxHeadBytes = 65_536;
/** Most fields of a response head, and of a trailer section. */
export const maxFields = 200;

/** A response head, with its framing and its statements about the connection. */
export type ParsedResponseHead = {
  readonly status: number;
  /** End-to-end fields in order, at most one Content-Length among them. */
  readonly headers: Fields;
  /** Value of Content-Length in bytes, if it sets the length of the body. */
  readonly length: number | undefined;
  readonly chunked: boolean;
  /**
   * Whether the connection can be reused after this message (RFC 9112 9.3). False after a message that announces a body
   * but must not have one (RFC 9112 6.1, RFC 9110 8.6): if the peer sends the body, it would be read as the response to
   * the next request.
   */
  readonly keepAlive: boolean;
  /** Value of the first Keep-Alive field. */
  readonly keepAliveField: string | undefined;
  /** The protocols that Upgrade names, in lower case, if Connection lists that field (RFC 9110 7.8). */
  readonly upgradeTo: string | undefined;
};

/**
 * Reads a response head (RFC 9112 4 and 5) from `start` to `end`, the index after its empty line. The error is the
 * text for the access log.
 */
export function parseResponseHead(
  text: string,
  start: number,
  end: number,
): Result<ParsedResponseHead, string> {
  const lineEnd = text.indexOf("\r\n", start);
  const status = readStatusLine(text, start, lineEnd);
  if (status === undefined) return fail("invalid status line");
  const http10 = text.charCodeAt(start + 7) === 0x30;
  const read = readFields(text, lineEnd + 2, end - 2, maxFields);
  if (read === undefined) return fail("invalid response header");

  // In 1xx and 204 responses, Content-Length has no meaning and is forbidden (RFC 9110 8.6).
  const mayHaveLength = status >= 200 && status !== 204;
  const framing = read.mayHave(framingKinds) ? framingOf(read, http10) : unframed;
  if (typeof framing === "string") return fail(framing);
  const { length, chunked } = framing;
  const said = read.mayHave(connectionKinds) ? connectionSaid(read) : unsaid;
  const { options } = said;
  read.removeKinds(mayHaveLength ? hopByHopKinds : hopByHopKinds | contentLength);
  if (length !== undefined && mayHaveLength && !framing.isPlain) settleLength(read, length);
  if (options !== undefined) removeNamedOptions(read, options);

  const close = options?.includes("close") === true;
  const announcesBody = !mayHaveLength && (chunked || (length !== undefined && length > 0));
  return ok({
    status,
    headers: read,
    length: mayHaveLength ? length : undefined,
    chunked,
    keepAlive: !close && !announcesBody && (!http10 || options?.includes("keep-alive") === true),
    keepAliveField: said.keepAlive,
    upgradeTo: options?.includes("upgrade") === true ? said.upgrade?.toLowerCase() : undefined,
  });
}

const contentLength = kindsMask("contentLength");
const framingKinds = kindsMask("contentLength", "transferEncoding");
const connectionKinds = kindsMask("connection", "keepAlive", "upgrade");

type Framing = {
  readonly length: number | undefined;
  readonly chunked: boolean;
  /** Whether Content-Length is written in the form that the proxy sends. */
  readonly isPlain: boolean;
};
const unframed: Framing = { length: undefined, chunked: false, isPlain: false };

/** Returns the framing of the body (RFC 9112 6.3), or the text for the access log if it is invalid. */
function framingOf(fields: Fields, http10: boolean): Framing | string {
  const plain = fields.plainNumber("content-length");
  const length = plain ?? lengthOf(fields);
  const isPlain = plain !== undefined;
  if (Number.isNaN(length)) return "invalid content-length";
  if (!fields.mayHave(transferEncoding)) return { length, chunked: false, isPlain };
  const coding = fields.joined("transfer-encoding");
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return "unsupported transfer-encoding";
  const chunked = coding !== undefined;
  return chunked && (length !== undefined || http10)
    ? "invalid response framing"
    : { length, chunked, isPlain };
}

const transferEncoding = kindsMask("transferEncoding");

/**
 * Returns the value of Content-Length in bytes. The result is NaN if it is not a number of at most 15 digits, or if
 * there are several, although RFC 9112 6.3 allows several equal ones to be read as one.
 */
function lengthOf(fields: Fields): number | undefined {
  const value = fields.first("content-length");
  if (value === undefined) return undefined;
  return !fields.hasSeveral("content-length") && /^[0-9]{1,15}$/.test(value) ? Number(value) : Number.NaN;
}

/** Rewrites Content-Length without leading zeros. */
function settleLength(headers: Fields, length: number): void {
  if (headers.first("content-length") === String(length)) return;
  headers.remove(contentLengthOnly);
  headers.append("Content-Length", String(length));
}

const contentLengthOnly: ReadonlySet<string> = new Set(["content-length"]);

type ConnectionSaid = {
  readonly options: readonly string[] | undefined;
  readonly keepAlive: string | undefined;
  readonly upgrade: string | undefined;
};
const unsaid: ConnectionSaid = { options: undefined, keepAlive: undefined, upgrade: undefined };

function connectionSaid(fields: Fields): ConnectionSaid {
  const connection = fields.joined("connection", ",");
  return {
    options: connection === undefined ? undefined : connectionOptions(connection),
    keepAlive: fields.first("keep-alive"),
    upgrade: fields.joined("upgrade"),
  };
}

/** Returns the status of `HTTP/1.x 200 Reason`, where ` Reason` is optional; undefined for any other line. */
function readStatusLine(text: string, start: number, lineEnd: number): number | undefined {
  // Nearly every response begins like this; the comparison makes no copy.
  if (text.startsWith("HTTP/1.1 200 OK\r\n", start)) return 200;
  const line = text.slice(start, lineEnd);
  return /^HTTP\/1\.[01] [1-5][0-9]{2}(?: [\t\x20-\x7e\x80-\xff]*)?$/.test(line)
    ? Number(line.slice(9, 12))
    : undefined;
}
