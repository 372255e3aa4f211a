import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { connectionOptions, isHopByHop, withoutConnectionOptions } from "../../message/hop-by-hop.ts";
import type { CheckedFields } from "../../message/checked-fields.ts";
import type { HeaderList } from "../../message/message.ts";
import { readFields } from "./field-lines.ts";

/** Most bytes of a response head, and of a trailer section (docs/features/upstream.md, "Limits"). */
export const maxHeadBytes = 65_536;
/** Most fields of a response head, and of a trailer section. */
export const maxFields = 200;

/** A response head and what it says about the message and the connection. */
export type ParsedResponseHead = {
  readonly status: number;
  /** End-to-end fields in order, at most one Content-Length among them. */
  readonly headers: HeaderList;
  /** All fields as they were received. */
  readonly checked: CheckedFields | undefined;
  /** Value of Content-Length in bytes, where it says how long the body is. */
  readonly length: number | undefined;
  readonly chunked: boolean;
  /**
   * True when the connection can be used again after this message (RFC 9112 9.3). False after one that announces a body
   * where there must be none (RFC 9112 6.1, RFC 9110 8.6): a peer that does send it would answer the next request with
   * it.
   */
  readonly keepAlive: boolean;
  /** Value of the Keep-Alive field: the first one, if there are several. */
  readonly keepAliveField: string | undefined;
  /** The protocols that Upgrade names, in lower case, where Connection lists it (RFC 9110 7.8). */
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

  // Meaningless there, and forbidden (RFC 9110 8.6).
  const mayHaveLength = status >= 200 && status !== 204;
  const { list, checked } = read;
  const headers: HeaderList = [];
  let length: number | undefined;
  let chunked = false;
  let upgradeField: string | undefined;
  let keepAliveField: string | undefined;
  let options: readonly string[] | undefined;
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] as string;
    let value = list[i + 1] as string;
    switch (name.length) {
      case 7:
        if (name.toLowerCase() !== "upgrade") break;
        upgradeField = upgradeField === undefined ? value : `${upgradeField}, ${value}`;
        break;
      case 10:
        switch (name.toLowerCase()) {
          case "connection":
            options =
              options === undefined ? connectionOptions(value) : [...options, ...connectionOptions(value)];
            continue;
          case "keep-alive":
            keepAliveField ??= value;
            continue;
        }
        break;
      case 14: {
        if (name.toLowerCase() !== "content-length") break;
        const bytes = parseContentLength(value);
        if (bytes === undefined || (length !== undefined && length !== bytes)) {
          return fail("invalid content-length");
        }
        const first = length === undefined;
        length = bytes;
        if (!first || !mayHaveLength) continue;
        value = String(bytes);
        break;
      }
      case 17:
        if (name.toLowerCase() !== "transfer-encoding") break;
        if (chunked || value.toLowerCase() !== "chunked") return fail("unsupported transfer-encoding");
        chunked = true;
        continue;
    }
    if (isHopByHop(name)) continue;
    headers.push(name, value);
  }
  if (chunked && (length !== undefined || http10)) return fail("invalid response framing");

  const close = options?.includes("close") === true;
  const announcesBody = !mayHaveLength && (chunked || (length !== undefined && length > 0));
  return ok({
    status,
    headers: options === undefined ? headers : withoutConnectionOptions(headers, options),
    checked,
    length: mayHaveLength ? length : undefined,
    chunked,
    keepAlive: !close && !announcesBody && (!http10 || options?.includes("keep-alive") === true),
    keepAliveField,
    upgradeTo: options?.includes("upgrade") === true ? upgradeField?.toLowerCase() : undefined,
  });
}

/** `HTTP/1.x 200 Reason`, the reason and the space before it optional; undefined when it is anything else. */
function readStatusLine(text: string, start: number, lineEnd: number): number | undefined {
  // The beginning of nearly every response, without a copy.
  if (text.startsWith("HTTP/1.1 200 OK\r\n", start)) return 200;
  const line = text.slice(start, lineEnd);
  return /^HTTP\/1\.[01] [1-5][0-9]{2}(?: [\t\x20-\x7e\x80-\xff]*)?$/.test(line)
    ? Number(line.slice(9, 12))
    : undefined;
}

/**
 * A Content-Length in bytes: one number, or a list of equal ones (RFC 9112 6.3); undefined when it is anything else
 * or more than 15 digits long.
 */
function parseContentLength(value: string): number | undefined {
  if (/^[0-9]{1,15}$/.test(value)) return Number(value);
  const [first, ...others] = value.split(",").map((item) => item.trim());
  if (first === undefined || !/^[0-9]{1,15}$/.test(first)) return undefined;
  return others.every((other) => other === first) ? Number(first) : undefined;
}
