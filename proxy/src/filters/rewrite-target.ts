import type { PathModifier } from "@svc-gateway/common/features/path-modifier.ts";
import {
  splitAtGroups,
  type ExpandedPath,
  type RewriteTarget,
} from "@svc-gateway/common/features/rewrite-target.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { decodedPath } from "@svc-gateway/common/values/path-segments.ts";
import { asOctets, encodedPath } from "../routing/decoded-path.ts";
import { normalisePath } from "../routing/normalise-path.ts";
import { compilePathModifier } from "./path-modifier.ts";

/** The maximum of regex steps times path length for one match: about a tenth of a second. */
const maxSteps = 2_000_000;
/** The maximum length of a rewritten path. With many group references it can be far longer than the client's path. */
const maxPathLength = 65_536;

/**
 * Replaces path and host of the upstream request; the access log still has the path that matched. See
 * docs/features/rewrite-target.md.
 */
export function rewriteTargetFilter({ path, hostname, forwardedPrefix }: RewriteTarget): Filter {
  const changePath =
    path === undefined
      ? keepPath
      : "pattern" in path
        ? expandPath(path, forwardedPrefix)
        : modifyPath(path, forwardedPrefix);
  return {
    slug: "rewrite-target",
    ...(forwardedPrefix !== undefined && { ownedFields: [prefixField] }),
    onRequest(exchange) {
      if (hostname !== undefined) exchange.upstreamAuthority = hostname;
      return changePath(exchange);
    },
  };
}

type OnRequest = (exchange: Exchange) => LocalReply | undefined;

const prefixField = "X-Forwarded-Prefix";
const ownNames = new Set([prefixField.toLowerCase()]);

function setPrefix(exchange: Exchange, value: string): void {
  exchange.headers.remove(ownNames);
  exchange.headers.append(prefixField, value);
}

const keepPath: OnRequest = () => undefined;

function modifyPath(modifier: PathModifier, forwardedPrefix: string | undefined): OnRequest {
  const modify = compilePathModifier(modifier);
  return (exchange) => {
    exchange.path = modify(exchange.matchedPath);
    if (forwardedPrefix !== undefined) setPrefix(exchange, forwardedPrefix);
    return undefined;
  };
}

const tooLong: LocalReply = { status: 414, error: "path too long to be rewritten" };
const notCanonical: LocalReply = { status: 400, error: "rewritten path is not canonical" };

/**
 * Puts the groups of the match into the new path. The groups are pieces of a canonical path, but the result is not
 * necessarily canonical: a client could send dot segments that the upstream resolves to a path outside the intended
 * one.
 */
function expandPath(
  { type, value, pattern, matchPath }: ExpandedPath,
  forwardedPrefix: string | undefined,
): OnRequest {
  const isDecoded = matchPath === "decoded";
  const regex = compileRegex(isDecoded ? asOctets(pattern) : pattern, { whole: false });
  if (!regex.ok) return () => ({ status: 500, error: "invalid regular expression" });
  const { find, steps } = regex.value;
  const replaces = type === "replace";
  // The replacement of a match is not necessarily a path, so it is not normalised.
  const parts = splitAtGroups((replaces ? undefined : normalisePath(value, "base")) ?? value);
  const prefix = forwardedPrefix === undefined ? undefined : splitAtGroups(forwardedPrefix);
  return (exchange) => {
    const matchedPath = isDecoded ? decodedPath(exchange.matchedPath) : exchange.matchedPath;
    if (steps * matchedPath.length > maxSteps) return tooLong;
    const found = find(matchedPath);
    if (replaces && found === undefined) return undefined;
    const groups = isDecoded ? found?.groups.map(encodedPath) : found?.groups;
    const expanded = expand(parts, groups);
    if (expanded === undefined) return tooLong;
    let path = replaces
      ? `${matchedPath.slice(0, found?.start)}${expanded}${matchedPath.slice(found?.end)}`
      : expanded;
    if (path.length > maxPathLength) return tooLong;
    if (!path.startsWith("/")) path = `/${path}`;
    if (normalisePath(path, "base") !== path) return notCanonical;
    exchange.path = path;
    if (prefix !== undefined) {
      const text = expand(prefix, groups);
      if (text === undefined) return tooLong;
      setPrefix(exchange, text);
    }
    return undefined;
  };
}

/** Joins the parts, with the texts of groups in place of their numbers; undefined if the result would be too long. */
function expand(
  parts: readonly (string | number)[],
  groups: readonly string[] | undefined,
): string | undefined {
  let text = "";
  for (const part of parts) {
    text += typeof part === "string" ? part : (groups?.[part - 1] ?? "");
    if (text.length > maxPathLength) return undefined;
  }
  return text;
}
