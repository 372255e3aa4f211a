import type { IncomingMessage } from "node:http";

/**
 * Reports whether a request may switch the connection to another protocol: only to `websocket` (RFC 6455 4.2.1), with
 * GET and without a body. Upgrade is ignored in all other requests (RFC 9110 7.8).
 */
export function asksForWebSocket(request: IncomingMessage): boolean {
  const { headers, httpVersion, method } = request;
  return (
    httpVersion === "1.1" &&
    method === "GET" &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    headers["transfer-encoding"] === undefined &&
    (headers["content-length"] ?? "0") === "0"
  );
}
