import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { Filter } from "../exchange/filter.ts";
import { redirectReply, type LocationParts } from "./location.ts";
import { compilePathModifier } from "./path-modifier.ts";

/** Answers every request with a redirect; the upstream is never contacted. See docs/features/redirect.md. */
export function redirectFilter(redirect: Redirect): Filter {
  const parts = redirectParts(redirect);
  return {
    slug: "redirect",
    onRequest: (exchange) => redirectReply(exchange, redirect.statusCode, parts),
  };
}

/** The parts of the URL that a redirect changes. */
export const redirectParts = ({ scheme, hostname, port, path }: Redirect): LocationParts => ({
  scheme,
  hostname,
  port,
  path: path && compilePathModifier(path),
});
