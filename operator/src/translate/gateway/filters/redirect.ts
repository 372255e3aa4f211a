import type { PathModifier } from "@svc-gateway/common/features/path-modifier.ts";
import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { RewriteTarget } from "@svc-gateway/common/features/rewrite-target.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type {
  HTTPRouteRuleFilterRequestRedirect,
  HTTPRouteRuleFilterUrlRewrite,
  HTTPRouteRuleFilterUrlRewritePath as WrittenPath,
} from "../../../api/generated/httproute.ts";
import { canonicalPath } from "../../ingress/path.ts";

/** A RequestRedirect filter. A port that is the scheme's own is not written into the Location. */
export function readRedirect(
  { scheme, hostname, port, path, statusCode = 302 }: HTTPRouteRuleFilterRequestRedirect = {},
  match: PathMatch,
): Redirect {
  const modifier = readPath(path, match);
  return {
    statusCode,
    ...(scheme !== undefined && { scheme }),
    ...(hostname !== undefined && { hostname: hostname.toLowerCase() }),
    ...(port !== undefined && { port }),
    ...(modifier && { path: modifier }),
  };
}

/** A URLRewrite filter. */
export function readRewrite(
  { hostname, path }: HTTPRouteRuleFilterUrlRewrite = {},
  match: PathMatch,
): RewriteTarget | undefined {
  const modifier = readPath(path, match);
  if (hostname === undefined && modifier === undefined) return undefined;
  return { ...(hostname !== undefined && { hostname }), ...(modifier && { path: modifier }) };
}

/** Replacing a prefix takes away what the match says; the API server lets it stand beside prefix matches only. */
function readPath(written: WrittenPath | undefined, match: PathMatch): PathModifier | undefined {
  if (written === undefined) return undefined;
  if (written.type === "ReplaceFullPath") {
    return { type: "full", value: absolute(written.replaceFullPath ?? "/") };
  }
  if (match.type !== "prefix") return undefined;
  const replacement = absolute(written.replacePrefixMatch ?? "/");
  return {
    type: "prefix",
    prefix: match.value === "/" ? "" : match.value,
    value: replacement.endsWith("/") ? replacement.slice(0, -1) : replacement,
  };
}

const absolute = (path: string): string => canonicalPath(path.startsWith("/") ? path : `/${path}`);
