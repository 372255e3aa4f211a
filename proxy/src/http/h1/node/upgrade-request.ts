import type { IncomingMessage } from "node:http";

/**
 * True for a request that may take the connection away from HTTP: `websocket` (RFC 6455 4.2.1) with GET and without a
 * body. All other requests with an Upgrade field are ordinary ones (RFC 9110 7.8: a server may ignore it).
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
