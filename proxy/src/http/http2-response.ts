import type { Exchange } from "../exchange/exchange.ts";
import { fitsHeaderBlock } from "../http2/fields.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { ResponseHead } from "../message/message.ts";

/** Returns the reply to an HTTP/2 client if this response must not be sent to it; otherwise undefined. */
export function insteadOverHttp2(exchange: Exchange, head: ResponseHead): LocalReply | undefined {
  if (exchange.version !== "2.0") return undefined;
  if (!fitsHeaderBlock(head.headers)) {
    return { status: 502, error: "response header too large for HTTP/2" };
  }
  // A 2xx response to extended CONNECT would mean that the WebSocket has been established (RFC 8441 5).
  if (exchange.client.canUpgrade && head.status < 300) {
    return { status: 502, error: "upgrade refused with a success" };
  }
  return undefined;
}
