import type { Exchange } from "../exchange/exchange.ts";

/** The trailers for UNAVAILABLE: the proxy made the call fail; it may be retried if the application allows that. */
const unavailable = ["grpc-status", "14", "grpc-message", "proxy shutting down"];

/**
 * Notifies the client of a request that the proxy shuts down, if the protocol has a message for it: UNAVAILABLE for a
 * gRPC call, which ends the call, and a Close frame for a WebSocket, which is sent to both ends. Other responses are
 * not changed here; they are cut later. Returns whether the request has ended. See docs/features/listeners.md,
 * "Shutdown".
 */
export function sayEnd(exchange: Exchange): boolean {
  const { client, work } = exchange;
  if (exchange.status === 101) {
    work?.sayEnd?.();
    return false;
  }
  // gRPC does not use the trailers of HTTP/1.1.
  if (!exchange.grpc || exchange.version !== "2.0") return false;
  work?.cancel();
  if (client.headSent) {
    exchange.error = "proxy shutting down";
    client.end([...unavailable]);
    exchange.finish();
  } else exchange.giveUp({ status: 503, error: "proxy shutting down" });
  return true;
}
