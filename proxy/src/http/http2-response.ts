import type { Exchange } from "../exchange/exchange.ts";
import { fitsHeaderBlock } from "../http2/fields.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { ResponseHead } from "../message/message.ts";

/** What a client of HTTP/2 gets in place of a response that it cannot be sent; undefined: it can. */
export function insteadOverHttp2(exchange: Exchange, head: ResponseHead): LocalReply | undefined {
  if (exchange.version !== "2.0") return undefined;
  if (!fitsHeaderBlock(head.headers)) {
    return { status: 502, error: "response header too large for HTTP/2" };
  }
  // To a client that asked for a WebSocket it would say that there is one (RFC 8441 5).
  if (exchange.client.canUpgrade && head.status < 300) {
    return { status: 502, error: "upgrade refused with a success" };
  }
  return undefined;
}
