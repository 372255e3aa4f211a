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
  // There must be a body to wait for (RFC 9110 10.1.1); backends differ in how they treat Expect without one.
  exchange.expectContinue = fields.expect !== undefined && client.body !== null && client.body.length !== 0;
  // On HTTP/2 only extended CONNECT can be upgraded, which asks for nothing else (RFC 8441).
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
