import type { SslRedirect } from "@svc-gateway/common/features/ssl-redirect.ts";
import type { Filter } from "../exchange/filter.ts";
import { redirectReply, type LocationParts } from "./location.ts";

/** Redirects cleartext requests to the same URL with https. See docs/features/ssl-redirect.md. */
export function sslRedirectFilter(redirect: SslRedirect): Filter {
  const parts = sslRedirectParts(redirect);
  return {
    slug: "ssl-redirect",
    onRequest: (exchange) =>
      exchange.scheme === "https" ? undefined : redirectReply(exchange, redirect.statusCode, parts),
  };
}

/** The parts of the URL that the redirect to https changes. */
export const sslRedirectParts = ({ port, cutSlash }: SslRedirect): LocationParts => ({
  scheme: "https",
  port,
  ...(cutSlash && { cutSlash }),
});
