import type { Exchange } from "../exchange/exchange.ts";

/** UNAVAILABLE: the call failed because of the proxy, and may be tried again where the application allows it. */
const unavailable = ["grpc-status", "14", "grpc-message", "proxy shutting down"];

/**
 * Says to the client of a request that the proxy ends, where the protocol has words for that: UNAVAILABLE for a gRPC call, which ends
 * with it, and a Close frame for a WebSocket, to both of its ends. A response without such words cannot be completed, and is cut.
 * True: the request has ended. See docs/features/listeners.md, "Shutdown".
 */
export function sayEnd(exchange: Exchange): boolean {
  const { client, work } = exchange;
  if (exchange.status === 101) {
    work?.sayEnd?.();
    return false;
  }
  // Trailers of HTTP/1.1 are no gRPC.
  if (!exchange.grpc || exchange.version !== "2.0") return false;
  work?.cancel();
  if (client.headSent) {
    exchange.error = "proxy shutting down";
    client.end([...unavailable]);
    exchange.finish();
  } else exchange.giveUp({ status: 503, error: "proxy shutting down" });
  return true;
}
