import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { Filter } from "./filter.ts";
import { redirectReply } from "./location.ts";
import { compilePathModifier } from "./path-modifier.ts";

/** Answers every request with a redirect; the upstream is never contacted. See docs/features/redirect.md. */
export function redirectFilter({ statusCode, scheme, hostname, port, path }: Redirect): Filter {
  const parts = { scheme, hostname, port, path: path && compilePathModifier(path) };
  return {
    slug: "redirect",
    onRequest: (exchange) => redirectReply(exchange, statusCode, parts),
  };
}
