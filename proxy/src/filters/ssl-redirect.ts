import type { SslRedirect } from "@svc-gateway/common/features/ssl-redirect.ts";
import type { Filter } from "../exchange/filter.ts";
import { redirectReply, type LocationParts } from "./location.ts";

/** Sends what arrives without TLS to the same URL with it. See docs/features/ssl-redirect.md. */
export function sslRedirectFilter(redirect: SslRedirect): Filter {
  const parts = sslRedirectParts(redirect);
  return {
    slug: "ssl-redirect",
    onRequest: (exchange) =>
      exchange.connection.listener.secure ? undefined : redirectReply(exchange, redirect.statusCode, parts),
  };
}

/** What the redirect changes in the URL. */
export const sslRedirectParts = ({ port }: SslRedirect): LocationParts => ({ scheme: "https", port });
