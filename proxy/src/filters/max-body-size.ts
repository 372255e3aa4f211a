import type { MaxBodySize } from "@svc-gateway/common/features/max-body-size.ts";
import type { Filter } from "../exchange/filter.ts";

/**
 * Refuses a request whose declared length exceeds the limit before anything is sent upstream, and sets the limit that
 * is enforced while the body is forwarded. Of several limits the smallest applies. An HTTP/1 connection is closed after
 * the refusal, because the unread body precedes the next request; on HTTP/2 other streams continue. See
 * docs/features/max-body-size.md.
 */
export const maxBodySizeFilter = ({ maxBytes }: MaxBodySize): Filter => ({
  slug: "max-body-size",
  onRequest(exchange) {
    if ((exchange.contentLength ?? 0) > maxBytes) {
      return { status: 413, error: "request body too large", close: true };
    }
    if (maxBytes < exchange.maxBodyBytes) exchange.maxBodyBytes = maxBytes;
    return undefined;
  },
});
