import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { HTTPRouteRuleFilterRequestRedirect } from "../../../api/generated/httproute.ts";
import { readPathModifier } from "./path-modifier.ts";

/** Reads a RequestRedirect filter. The default port of the scheme is not written into the Location. */
export function readRedirect(
  { scheme, hostname, port, path, statusCode = 302 }: HTTPRouteRuleFilterRequestRedirect = {},
  match: PathMatch,
): Redirect {
  const modifier = readPathModifier(path, match);
  return {
    statusCode,
    ...(scheme !== undefined && { scheme }),
    ...(hostname !== undefined && { hostname: hostname.toLowerCase() }),
    ...(port !== undefined && { port }),
    ...(modifier && { path: modifier }),
  };
}
