/** The permitted differences between the native HTTP/1 codec and llhttp, and their reasons. */
import { METHODS } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { readByNative, type Reading, type ReadMessage } from "./readings.ts";

/**
 * A difference in which the native codec refuses a request that llhttp accepts: the reasons of the native codec, and
 * whether `text`, which begins with the request, has this difference.
 */
type Stricter = { readonly reasons: readonly string[]; readonly shows: (text: string) => boolean };

const requestLine = /^(?:\r\n)*(\S+)( +)(\S+)( +)[A-Z]+\/\d\.\d\r\n/;
/** The grammar of RFC 9112 7.1.1, without the whitespace that was once allowed. */
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const extension = `;${token}(?:=(?:${token}|"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"))?`;
const strictSizeLine = new RegExp(`^[0-9A-Fa-f]{1,13}(?:${extension})*$`);
const sizeLines = (text: string): readonly string[] =>
  text.match(/(?<=\n)[0-9A-Fa-f]+(?:;[^\r\n]*)?(?=\r\n)/g) ?? [];

const headOf = (text: string): string => /^(?:\r\n)*[^]*?\r\n\r\n/.exec(text)?.[0] ?? "";

const stricter: Readonly<Record<string, Stricter>> = {
  // RFC 9112 2.2 requires at least one empty line (CRLF) to be ignored; llhttp ignores any number of CR and LF.
  "line ends before a request": {
    reasons: ["malformed"],
    shows: (text) => /^[\r\n]/.test(text) && !/^(?:\r\n){1,8}(?:[^\r\n]|$)/.test(text),
  },
  // llhttp also accepts RTSP and ICE, with any method.
  "another protocol": {
    reasons: ["malformed"],
    shows: (text) => /^(?:\r\n)*\S+ \S+ (?:RTSP|ICE)\/1\.\d\r\n/.test(text),
  },
  // RFC 9112 3 specifies one space, and lets lenient servers accept more.
  "several spaces in a request line": {
    reasons: ["malformed"],
    shows: (text) => {
      const [, , before = "", , after = ""] = requestLine.exec(text) ?? [];
      return before.length > 1 || after.length > 1;
    },
  },
  // RFC 9112 3.2: each form of a target is allowed for certain methods only; an absolute one has a host.
  "a target in a form that does not fit": {
    reasons: ["malformed"],
    shows: (text) => {
      const [, method = "", , target = ""] = requestLine.exec(text) ?? [];
      if (method === "CONNECT") return !/^[^:/?#]+:\d+$/.test(target);
      if (target.startsWith("*")) return target !== "*" || method !== "OPTIONS";
      return /^[A-Za-z]+:\/\/(?:[/?]|$)/.test(target);
    },
  },
  // llhttp does not report a body after such a request that is malformed or incomplete.
  "an upgrade with a broken body": {
    reasons: ["malformed-body", "incomplete"],
    shows: (text) => {
      const head = headOf(text);
      return /\r\nUpgrade:/i.test(head) && /\r\nConnection:[^\r]*\bupgrade\b/i.test(head);
    },
  },
  // RFC 9110 5.5 allows it, but llhttp treats it as a part of the coding, unless the request asks for an upgrade.
  "a tab behind a coding": {
    reasons: ["malformed"],
    shows: (text) => /\r\nTransfer-Encoding:[^\r]*\t[\t ]*\r\n/i.test(headOf(text)),
  },
  // More digits than any real size has, or extensions that RFC 9112 7.1.1 does not allow.
  "the line of a chunk's size": {
    reasons: ["malformed-body"],
    shows: (text) => sizeLines(text).some((line) => !strictSizeLine.test(line)),
  },
};

/** Returns `alike`, the name of a permitted difference, or undefined for one without a known reason. */
export function explanationOf(native: Reading, llhttp: Reading, bytes: Buffer): string | undefined {
  if (isDeepStrictEqual({ ...native, reason: "" }, llhttp)) return "alike";
  let same = 0;
  while (same < Math.min(native.messages.length, llhttp.messages.length)) {
    if (!isDeepStrictEqual(native.messages[same], llhttp.messages[same])) return undefined;
    same++;
  }
  // RFC 9112 C.2.2: not a field of any specification; llhttp treats it as Connection.
  if (llhttp.closes && llhttp.messages.length === same && asksProxyToClose(llhttp.messages[same - 1])) {
    return "Proxy-Connection: close";
  }
  const last = native.messages[same - 1];
  if (last !== undefined && native.closes && native.messages.length === same) {
    // The bytes after a handshake may be another protocol, even if it is refused.
    if (isHandshake(last)) return "a WebSocket handshake, after which the connection closes";
    // RFC 9112 9.3: close takes precedence over any other option.
    if (last.version === "1.0" && /\bclose\b/i.test(fieldOf(last, "connection"))) return "close in HTTP/1.0";
  }
  // RFC 9110 7.8: a request whose upgrade is ignored is an ordinary one; llhttp reads nothing after it.
  if (last !== undefined && llhttp.messages.length === same && asksToUpgrade(last)) {
    return "an upgrade that is not taken";
  }
  const surplus = native.messages[same];
  if (surplus !== undefined) {
    // RFC 9110 9.1: any token is a method; servers may not know it, and proxies forward it.
    return llhttp.end === "refused" && !METHODS.includes(surplus.method) ? "a method of no list" : undefined;
  }
  if (native.end !== "refused") return undefined;
  const text = bytes.toString("latin1", startOf(bytes, same));
  const found = Object.entries(stricter).find(
    ([, { reasons, shows }]) => reasons.includes(native.reason) && shows(text),
  );
  return found?.[0];
}

const fieldOf = ({ headers }: ReadMessage, name: string): string =>
  headers.filter((_, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === name).join(", ");

const asksProxyToClose = (message: ReadMessage | undefined): boolean =>
  message !== undefined && /close/i.test(fieldOf(message, "proxy-connection"));

const asksToUpgrade = (message: ReadMessage): boolean =>
  /\bupgrade\b/i.test(fieldOf(message, "connection")) && fieldOf(message, "upgrade") !== "";

const isHandshake = (message: ReadMessage): boolean =>
  asksToUpgrade(message) && message.method === "GET" && fieldOf(message, "upgrade") === "websocket";

/** Returns the position at which a message begins: after the fewest bytes that contain the messages before it. */
function startOf(bytes: Buffer, number: number): number {
  if (number === 0) return 0;
  let least = 0;
  let most = bytes.length;
  while (least < most) {
    const middle = (least + most) >> 1;
    if (readByNative([bytes.subarray(0, middle)]).messages.length >= number) most = middle;
    else least = middle + 1;
  }
  return least;
}
