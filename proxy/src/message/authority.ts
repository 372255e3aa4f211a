import { type Result, ok, problem } from "@svc-gateway/common/values/result.ts";
import { kindsMask } from "./known-names.ts";
import type { RequestHead } from "./message.ts";

/** The host and target of a request, after the checks of RFC 9112 3.2 and RFC 9113 8.3.1. */
export type RequestAddress = {
  /** Host as it is forwarded, port included; empty for HTTP/1.0 without Host. */
  readonly authority: string;
  /** The host that routing compares: lower case, without port and trailing dot. */
  readonly host: string;
  /** Origin-form target; `*` for `OPTIONS *`. */
  readonly target: string;
};

/** A host that has been parsed before, such as that of the last request on a connection. */
export type KnownHost = Pick<RequestAddress, "authority" | "host">;

/**
 * Parses host and target of a request; a `known` host is not parsed again. Rejects a missing Host (except over
 * HTTP/1.0), more than one, one that is not `host[:port]` or has userinfo, and one that differs from the absolute form
 * or `:authority`.
 */
export function parseRequestAddress(head: RequestHead, known?: KnownHost): Result<RequestAddress> {
  const { headers, target } = head;
  const hasHost = headers.mayHave(hostKind);
  if (hasHost && headers.hasSeveral("host")) return problem("more than one Host field");
  const hostField = hasHost ? headers.first("host") : undefined;
  if (head.version === "2.0") return http2Address(head, hostField, known);
  if (target.charCodeAt(0) === SLASH) {
    if (hostField !== undefined && hostField === known?.authority && hostField !== "") {
      return ok({ authority: known.authority, host: known.host, target });
    }
    return originAddress(head, hostField, target);
  }
  if (target === "*" && head.method === "OPTIONS") return originAddress(head, hostField, target);
  return absoluteAddress(head, hostField);
}

/**
 * Returns authority and path of a refused request as received, for the access log. Query and userinfo (RFC 3986 3.2.1)
 * are removed, because either may contain credentials. The path is empty for targets in forms other than origin form
 * and `*`.
 */
export function addressAsReceived(head: RequestHead): { readonly authority: string; readonly path: string } {
  const { target } = head;
  const end = target.search(/[?#]/);
  const path = target.startsWith("/") || target === "*" ? target.slice(0, end < 0 ? undefined : end) : "";
  const authority = head.authority ?? head.headers.joined("host") ?? "";
  return { authority: authority.slice(authority.lastIndexOf("@") + 1), path };
}

function originAddress(
  head: RequestHead,
  hostField: string | undefined,
  target: string,
): Result<RequestAddress> {
  if (hostField === undefined || hostField === "") {
    if (head.version !== "1.0") return problem("Host is missing");
    return ok({ authority: "", host: "", target });
  }
  return addressOf(hostField, target);
}

function http2Address(
  head: RequestHead,
  hostField: string | undefined,
  known: KnownHost | undefined,
): Result<RequestAddress> {
  const authority = head.authority ?? hostField;
  if (authority === undefined || authority === "") return problem(":authority is missing");
  if (head.scheme !== undefined && head.scheme !== "http" && head.scheme !== "https") {
    return problem(":scheme is neither http nor https");
  }
  if (head.authority !== undefined && hostField !== undefined) {
    if (!sameAuthority(head.authority, hostField, head.scheme ?? "http")) {
      return problem("Host differs from :authority");
    }
  }
  if (head.target.charCodeAt(0) !== SLASH && !(head.target === "*" && head.method === "OPTIONS")) {
    return problem(":path is not in origin form");
  }
  if (authority === known?.authority) return ok({ authority, host: known.host, target: head.target });
  return addressOf(authority, head.target);
}

/** RFC 9112 3.2.2: `http://host[:port]/path?query`. */
function absoluteAddress(head: RequestHead, hostField: string | undefined): Result<RequestAddress> {
  const match = /^(https?):\/\/([^/?#]*)(.*)$/i.exec(head.target);
  const [, scheme, authority, rest] = match ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) {
    return problem("request target is neither in origin nor in absolute form");
  }
  if (hostField === undefined && head.version !== "1.0") return problem("Host is missing");
  if (hostField !== undefined && !sameAuthority(authority, hostField, scheme.toLowerCase())) {
    return problem("Host differs from the request target");
  }
  return addressOf(authority, rest.charCodeAt(0) === SLASH ? rest : `/${rest}`);
}

function addressOf(authority: string, target: string): Result<RequestAddress> {
  const host = hostOf(authority);
  if (host === undefined) return problem("Host is not host[:port]");
  return ok({ authority, host, target });
}

function sameAuthority(a: string, b: string, scheme: string): boolean {
  if (a === b) return true;
  const defaultPort = scheme === "https" ? ":443" : ":80";
  const plain = (authority: string): string => {
    const lower = authority.toLowerCase();
    return lower.endsWith(defaultPort) ? lower.slice(0, -defaultPort.length) : lower;
  };
  return plain(a) === plain(b);
}

const hostKind = kindsMask("host");

const SLASH = 0x2f;
const COLON = 0x3a;
const DOT = 0x2e;

/** Characters of a registered name without percent-encoding: letters, digits, `-`, `.`, `_`, `~`. */
const nameChars = new Uint8Array(128);
for (const char of "abcdefghijklmnopqrstuvwxyz0123456789-._~") nameChars[char.charCodeAt(0)] = 1;
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") nameChars[char.charCodeAt(0)] = 2;

/** The lower-case host of `host[:port]`, without trailing dot; undefined when malformed. */
export function hostOf(authority: string): string | undefined {
  if (authority.charCodeAt(0) === 0x5b) return ipv6HostOf(authority);
  let end = 0;
  let upper = false;
  const { length } = authority;
  while (end < length) {
    const kind = nameChars[authority.charCodeAt(end)] ?? 0;
    if (kind === 0) break;
    if (kind === 2) upper = true;
    end++;
  }
  if (end === 0 || end > 255) return undefined;
  if (end < length && !isPortSuffix(authority, end)) return undefined;
  let hostEnd = end;
  if (authority.charCodeAt(hostEnd - 1) === DOT) hostEnd--;
  if (hostEnd === 0) return undefined;
  const host = hostEnd === length ? authority : authority.slice(0, hostEnd);
  return upper ? host.toLowerCase() : host;
}

function ipv6HostOf(authority: string): string | undefined {
  const close = authority.indexOf("]");
  if (close < 0 || !/^\[[0-9a-fA-F:.]{2,45}$/.test(authority.slice(0, close))) return undefined;
  if (close + 1 < authority.length && !isPortSuffix(authority, close + 1)) return undefined;
  return authority.slice(0, close + 1).toLowerCase();
}

/** Reports whether the text from `start` on is `:` and a valid port; an empty port is allowed (RFC 3986 3.2.3). */
function isPortSuffix(authority: string, start: number): boolean {
  if (authority.charCodeAt(start) !== COLON || authority.length - start > 6) return false;
  let port = 0;
  for (let i = start + 1; i < authority.length; i++) {
    const digit = authority.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return false;
    port = port * 10 + digit;
  }
  return port <= 65535;
}
