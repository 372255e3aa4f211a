import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { decodedPath, mergeSlashes, removeDotSegments } from "@svc-gateway/common/values/path-segments.ts";
import { upperCaseEscapes } from "@svc-gateway/common/values/percent-escapes.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { RegexBudget } from "../regex-budget.ts";
import { quote } from "../text.ts";

/** The match for every path. */
export const anyPath: PathMatch = { type: "prefix", value: "/" };

/** Whether a path matches every request. */
export const isEveryPath = ({ type, value }: PathMatch): boolean =>
  type === anyPath.type && value === anyPath.value;

const expected = 'a path that starts with "/" and has no empty, "." or ".." segment';
const expectedOfPrefix = 'a path that starts with "/" and has no "." or ".." segment';

/**
 * Parses the path of an Ingress rule (Kubernetes documentation, "Ingress path types"). `Exact` compares whole
 * paths. `Prefix` compares segments, so that a trailing slash makes no difference, and `ImplementationSpecific`
 * works like `Prefix`. The result is in the form to which requests are normalised at `base`. Paths with dot segments
 * are rejected, and those with empty segments if the type is `Exact` or `Prefix`, as by Kubernetes. With a
 * `regexBudget`, `ImplementationSpecific` paths are regular expressions instead. See docs/routing.md and
 * docs/features/use-regex.md. With `mayBeRegex`, a path that no request can have is accepted, because it can become
 * a regular expression on its host.
 */
export function parseIngressPath(
  path: string | undefined,
  pathType: string | undefined,
  regexBudget?: RegexBudget,
  mayBeRegex = false,
): Result<PathMatch> {
  switch (pathType) {
    case "Exact":
      return parseLiteral(path ?? "", (value) => ({ type: "exact", value }), mayBeRegex);
    case "Prefix":
      return parseLiteral(path ?? "", asPrefix, mayBeRegex);
    case "ImplementationSpecific":
    case undefined:
      if (regexBudget !== undefined) return parseRegex(path || "/", regexBudget);
      return path === undefined || path === "" ? ok(anyPath) : parseSpecific(path, mayBeRegex);
    default:
      return problem(`Path type ${quote(pathType)} is not known`, "Exact, Prefix or ImplementationSpecific");
  }
}

/** A prefix without the slashes at its end, which make no difference. */
function asPrefix(path: string): PathMatch {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end--;
  return end === 0 ? anyPath : { type: "prefix", value: path.slice(0, end) };
}

function parseLiteral(
  path: string,
  toMatch: (canonical: string) => PathMatch,
  mayBeRegex: boolean,
): Result<PathMatch> {
  const canonical = rulePath(path);
  if (!canonical.startsWith("/")) return problem(`Path ${quote(path)} does not start with "/"`, expected);
  if (!mayBeRegex && (canonical.includes("//") || dotSegment.test(canonical))) {
    return problem(`Path ${quote(path)} has an empty or a dot segment`, expected);
  }
  return ok(toMatch(canonical));
}

/** Parses a path of type `ImplementationSpecific`. No normalised request has a dot segment. */
function parseSpecific(path: string, mayBeRegex: boolean): Result<PathMatch> {
  const canonical = rulePath(path);
  if (!canonical.startsWith("/"))
    return problem(`Path ${quote(path)} does not start with "/"`, expectedOfPrefix);
  if (!mayBeRegex && dotSegment.test(canonical))
    return problem(`Path ${quote(path)} has a dot segment`, expectedOfPrefix);
  return ok(asPrefix(canonical));
}

/** Parses a regular expression. One that does not begin with a slash would match in the middle of a path. */
function parseRegex(pattern: string, regexBudget: RegexBudget): Result<PathMatch> {
  if (!pattern.startsWith("/"))
    return problem(`Path ${quote(pattern)} does not start with "/"`, expectedRegex);
  const compiled = regexBudget.compile(pattern, { whole: false });
  return compiled.ok
    ? ok({ type: "regex", value: pattern })
    : problem(`Path ${quote(pattern)}: ${compiled.error.message}`, compiled.error.expected);
}

const expectedRegex = 'a regular expression that starts with "/"';

const dotSegment = /\/\.\.?(?:\/|$)/;

const plainPath = /^[!$&-.0-9:;=@A-Z_a-z~/]*$/;
const escapeOrUnsafe = /%[0-9A-Fa-f]{2}|[^!"$&->@-~]/gu;
const unreserved = /^[A-Za-z0-9\-._~]$/;

/** Normalises a path for comparison with requests. The case of its escapes makes no difference. */
export const rulePath = (path: string): string => upperCaseEscapes(canonicalPath(path));

/**
 * The path as in a normalised request: escapes of unreserved characters are decoded, characters that are not
 * valid in a URL are escaped (RFC 3986 sections 2.1 and 6.2.2.2), and backslashes become slashes. Other escapes
 * are unchanged.
 */
export function canonicalPath(path: string): string {
  if (plainPath.test(path)) return path;
  const escaped = path.toWellFormed().replaceAll(escapeOrUnsafe, (part) => {
    if (part.length !== 3 || !part.startsWith("%")) return encodeURIComponent(part);
    const plain = String.fromCharCode(Number.parseInt(part.slice(1), 16));
    return unreserved.test(plain) ? plain : part;
  });
  return escaped.replaceAll("\\", "/");
}

/** The form in which paths of a host are compared (see HostRoutes in common/src/ir/route.ts). */
export type PathForm = { readonly level: PathLevel; readonly isDecoded: boolean };

/**
 * The path of a match, in the form of `rulePath`, as the proxies compare it on its host. Paths that differ only as
 * written, such as `/a//b` and `/a/b` on a host that merges slashes, match the same requests. A prefix has no trailing
 * slash (`/` is the empty text).
 */
export function comparedPath({ type, value }: PathMatch, { level, isDecoded }: PathForm): string {
  if (type === "regex") return value;
  let path = level === "decode-and-merge-slashes" ? value.replaceAll(/%2F|%5C/g, "/") : value;
  if (path.includes("/.")) path = removeDotSegments(path);
  if (level !== "base") path = mergeSlashes(path);
  if (isDecoded) path = upperCaseEscapes(decodedPath(path));
  return type === "prefix" && path.endsWith("/") ? path.slice(0, -1) : path;
}
