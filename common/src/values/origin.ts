import { shown } from "./clip.ts";
import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { problem, ok, type Problem, type Result } from "./result.ts";

/** The origin of a page (RFC 6454 section 4); without an explicit port, it has the port of its scheme. */
export type Origin = {
  /** `http` or `https`. */
  readonly scheme: "http" | "https";
  /** The host in lower case; IPv6 addresses are in canonical form and in brackets. */
  readonly host: string;
  readonly port: number;
};

const defaultPorts = { http: 80, https: 443 } as const;
/** More than the length of any origin: a scheme, 253 characters of a host and a port. */
const maxLength = 300;
const maxHostLength = 253;

const originForm = /^(https?):\/\/([^/?#@\\\s]*?)(?::(\d{1,5}))?$/;
/**
 * Labels with the characters that hosts have in practice. For browsers, a host with a dot at its end is a different
 * host.
 */
const hostForm = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/;

/**
 * Reads a serialised origin (RFC 6454 section 6.2): only scheme, host and port. `null` and URLs with a path, a query or
 * user information are not origins.
 */
export function parseOrigin(text: string): Origin | undefined {
  if (text.length > maxLength) return undefined;
  const [, scheme, written = "", portText] = originForm.exec(text.toLowerCase()) ?? [];
  if (scheme !== "http" && scheme !== "https") return undefined;
  const host = readHost(written);
  const port = portText === undefined ? defaultPorts[scheme] : Number(portText);
  return host === undefined || port > 65_535 ? undefined : { scheme, host, port };
}

function readHost(text: string): string | undefined {
  if (text.startsWith("[")) {
    const address = text.slice(1, -1);
    if (!text.endsWith("]") || !isIPv6(address) || address.includes("%")) return undefined;
    return `[${ipaddr.IPv6.parse(address).toRFC5952String()}]`;
  }
  return text.length <= maxHostLength && hostForm.test(text) ? text : undefined;
}

/** The origins that an entry of a list matches. */
export type OriginPattern = {
  readonly scheme: Origin["scheme"];
  readonly port: number;
  /**
   * One host, or with `suffix` all hosts that have at least one label before it; an empty suffix matches every host.
   */
  readonly host: string | { readonly suffix: string };
};

const expected =
  'scheme, host and port, as in "https://a.example.com", "https://*.example.com:8443" or "http://*"';

/** Reads an origin whose host may begin with `*.`, or be `*` (Gateway API, CORSOrigin). */
export function parseOriginPattern(text: string): Result<OriginPattern, Problem> {
  const [before, after, ...rest] = text.split("://*");
  // Replacing the wildcard with a host shows whether the rest is an origin.
  const isWildcard = after !== undefined && rest.length === 0 && !before?.includes("/");
  const origin = parseOrigin(isWildcard ? `${before}://x${after}` : text);
  if (origin === undefined) return problem(`${JSON.stringify(shown(text))} is not an origin`, expected);
  const { scheme, host, port } = origin;
  if (!isWildcard) return ok({ scheme, host, port });
  const suffix = host.slice(1);
  if (suffix !== "" && !(suffix.startsWith(".") && suffix.length > 1)) {
    return problem(`${JSON.stringify(shown(text))} is not an origin`, expected);
  }
  return ok({ scheme, port, host: { suffix } });
}

/** Compiles a list for lookups on the request path; entries that are not origins match none. */
export function compileOrigins(patterns: readonly string[]): (origin: Origin) => boolean {
  const exact = new Set<string>();
  const wildcards: (Omit<OriginPattern, "host"> & { readonly suffix: string })[] = [];
  for (const text of patterns) {
    const read = parseOriginPattern(text);
    if (!read.ok) continue;
    const { host, ...place } = read.value;
    if (typeof host === "string") exact.add(keyOf({ ...place, host }));
    else wildcards.push({ ...place, ...host });
  }
  return (origin) => exact.has(keyOf(origin)) || wildcards.some((one) => isCovered(origin, one));
}

const keyOf = ({ scheme, host, port }: Origin): string => `${scheme}://${host}:${port}`;

/**
 * Reports whether a wildcard covers an origin. Wildcards match labels, so an IP address is matched only by a `*` alone.
 */
function isCovered(
  { scheme, host, port }: Origin,
  pattern: { readonly scheme: string; readonly port: number; readonly suffix: string },
): boolean {
  if (scheme !== pattern.scheme || port !== pattern.port) return false;
  if (pattern.suffix === "") return true;
  return host.length > pattern.suffix.length && host.endsWith(pattern.suffix) && !isIPv4(host);
}
