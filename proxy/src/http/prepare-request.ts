import type { Exchange } from "../exchange/exchange.ts";
import type { RequestHead } from "../message/message.ts";
import { addClientCertificate } from "./client-certificate.ts";
import { addForwardingFields, type RequestFields } from "./request-fields.ts";

/** Prepares an admitted request for filters and upstreams: end-to-end fields, Expect, upgrade, forwarding fields. */
export function prepareRequest(
  exchange: Exchange,
  fields: RequestFields,
  head: RequestHead,
  via: boolean,
): void {
  const { client, connection } = exchange;
  exchange.headers = fields.headers;
  // Expect requires a body (RFC 9110 10.1.1); without one, backends differ in how they treat it.
  exchange.expectContinue = fields.expect !== undefined && client.body !== null && client.body.length !== 0;
  // On HTTP/2 `canUpgrade` is true only for an extended CONNECT that requests a WebSocket (RFC 8441).
  const asksForWebSocket = fields.upgrade === "websocket" || head.version === "2.0";
  exchange.upgrade = asksForWebSocket && client.canUpgrade ? "websocket" : undefined;
  addForwardingFields(fields.headers, connection, exchange, via);
  if (connection.tls?.client !== undefined) {
    addClientCertificate(
      fields.headers,
      connection,
      connection.listener.table.clientRulesOf?.(exchange.host),
    );
  }
}
