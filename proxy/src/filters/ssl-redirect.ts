import type { SslRedirect } from "@svc-gateway/common/features/ssl-redirect.ts";
import type { Filter } from "./filter.ts";
import { redirectReply } from "./location.ts";

/** Sends what arrives without TLS to the same URL with it. See docs/features/ssl-redirect.md. */
export function sslRedirectFilter({ port, statusCode }: SslRedirect): Filter {
  const parts = { scheme: "https", port } as const;
  return {
    slug: "ssl-redirect",
    onRequest: (exchange) =>
      exchange.connection.listener.secure ? undefined : redirectReply(exchange, statusCode, parts),
  };
}
