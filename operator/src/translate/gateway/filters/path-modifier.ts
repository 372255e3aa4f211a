import type { PathModifier } from "@svc-gateway/common/features/path-modifier.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { HTTPRouteRuleFilterUrlRewritePath } from "../../../api/generated/httproute.ts";
import { canonicalPath } from "../../ingress/path.ts";

/**
 * Reads the `path` of a RequestRedirect or URLRewrite filter. Replacing a prefix removes the prefix that the
 * match names. Without a prefix match, which the API server requires, the path is not changed.
 */
export function readPathModifier(
  written: HTTPRouteRuleFilterUrlRewritePath | undefined,
  match: PathMatch,
): PathModifier | undefined {
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
