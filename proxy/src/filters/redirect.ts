import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { Filter } from "../exchange/filter.ts";
import { locationReply, noHost, redirectReply, type LocationParts } from "./location.ts";
import { compileRequestTemplate } from "../routing/request-template.ts";
import { compilePathModifier } from "./path-modifier.ts";

/** Answers every request with a redirect; the upstream is never contacted. See docs/features/redirect.md. */
export function redirectFilter(redirect: Redirect): Filter {
  const { statusCode, url, origin } = redirect;
  if (typeof url === "string") {
    return { slug: "redirect", onRequest: () => locationReply(statusCode, url) };
  }
  if (url !== undefined) {
    const locationOf = compileRequestTemplate(url);
    return { slug: "redirect", onRequest: (exchange) => locationReply(statusCode, locationOf(exchange)) };
  }
  if (origin !== undefined) return { slug: "redirect", onRequest: toOwnOrigin(redirect, origin) };
  const parts = redirectParts(redirect);
  return { slug: "redirect", onRequest: (exchange) => redirectReply(exchange, statusCode, parts) };
}

/** Redirects to another path of the host that the client named in its request. */
function toOwnOrigin(
  { path, query, statusCode }: Redirect,
  origin: NonNullable<Redirect["origin"]>,
): NonNullable<Filter["onRequest"]> {
  const change = path && compilePathModifier(path);
  return (exchange) => {
    const target = `${change?.(exchange.path) ?? exchange.path}${query === "none" ? "" : exchange.query}`;
    if (origin === "none") return locationReply(statusCode, target);
    const { authority, secure } = exchange;
    if (authority === "") return noHost;
    return locationReply(statusCode, `${secure ? "https" : "http"}://${authority}${target}`);
  };
}

/** The parts of the URL that a redirect changes. */
export const redirectParts = ({
  scheme,
  hostname,
  port,
  path,
  query,
  cutSlash,
}: Redirect): LocationParts => ({
  scheme,
  hostname,
  port,
  path: path && compilePathModifier(path),
  ...(query && { query }),
  ...(cutSlash && { cutSlash }),
});
