import type { PathModifier } from "@svc-gateway/common/features/path-modifier.ts";
import {
  groupReference,
  type ExpandedPath,
  type RewriteTarget,
} from "@svc-gateway/common/features/rewrite-target.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { normalisePath } from "../routing/normalise-path.ts";
import { compilePathModifier } from "./path-modifier.ts";

/** Bounds one match to about a tenth of a second: the steps of the regex times the length of the path. */
const maxSteps = 2_000_000;
/** The longest rewritten path: one with many references can be far longer than the client's. */
const maxPathLength = 65_536;

/**
 * Replaces path and host of the upstream request; the access log keeps the path that matched. See
 * docs/features/rewrite-target.md.
 */
export function rewriteTargetFilter({ path, hostname }: RewriteTarget): Filter {
  const onPath = path === undefined ? keepPath : "pattern" in path ? expandPath(path) : modifyPath(path);
  if (hostname === undefined) return { slug: "rewrite-target", onRequest: onPath };
  return {
    slug: "rewrite-target",
    onRequest(exchange) {
      exchange.upstreamAuthority = hostname;
      return onPath(exchange);
    },
  };
}

type OnRequest = (exchange: Exchange) => LocalReply | undefined;

const keepPath: OnRequest = () => undefined;

function modifyPath(modifier: PathModifier): OnRequest {
  const modify = compilePathModifier(modifier);
  return (exchange) => {
    exchange.path = modify(exchange.matchedPath);
    return undefined;
  };
}

const tooLong: LocalReply = { status: 414, error: "path too long to be rewritten" };
const notCanonical: LocalReply = { status: 400, error: "rewritten path is not canonical" };

/**
 * Puts the groups of the match into the new path. They are pieces of a canonical path, but together they need not form one:
 * a client could send dot segments that the upstream resolves to a place outside of the new path.
 */
function expandPath({ type, value, pattern }: ExpandedPath): OnRequest {
  const regex = compileRegex(pattern, { whole: false });
  if (!regex.ok) return () => ({ status: 500, error: "invalid regular expression" });
  const { find, steps } = regex.value;
  const replaces = type === "replace";
  // Text and numbers of groups alternate. The replacement of a match need not be a path.
  const parts = ((replaces ? undefined : normalisePath(value, "base")) ?? value).split(groupReference);
  return (exchange) => {
    const { matchedPath } = exchange;
    if (steps * matchedPath.length > maxSteps) return tooLong;
    const found = find(matchedPath);
    if (replaces && found === undefined) return undefined;
    let path = replaces ? matchedPath.slice(0, found?.start) : "";
    for (const [index, part] of parts.entries()) {
      path += index % 2 === 0 ? part : (found?.groups[Number(part) - 1] ?? "");
      if (path.length > maxPathLength) return tooLong;
    }
    if (replaces) path += matchedPath.slice(found?.end);
    if (!path.startsWith("/")) path = `/${path}`;
    if (normalisePath(path, "base") !== path) return notCanonical;
    exchange.path = path;
    return undefined;
  };
}
