import type { RewriteTarget } from "@svc-gateway/common/features/rewrite-target.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { HTTPRouteRuleFilterUrlRewrite } from "../../../api/generated/httproute.ts";
import { readPathModifier } from "./path-modifier.ts";

/** Reads a URLRewrite filter. */
export function readRewrite(
  { hostname, path }: HTTPRouteRuleFilterUrlRewrite = {},
  match: PathMatch,
): RewriteTarget | undefined {
  const modifier = readPathModifier(path, match);
  if (hostname === undefined && modifier === undefined) return undefined;
  return { ...(hostname !== undefined && { hostname }), ...(modifier && { path: modifier }) };
}
