import type { Exchange } from "../exchange/exchange.ts";
import { type LocalReply, renderReply } from "../message/local-reply.ts";
import { applyResponseFilters } from "./response-filters.ts";

/** Sends a local reply, after running the response filters of the chosen route and backend, and ends the exchange. */
export function answer(exchange: Exchange, reply: LocalReply): void {
  const { client } = exchange;
  exchange.status = reply.status;
  if (reply.error !== undefined) {
    exchange.error = reply.error;
    exchange.reason = reply.reason;
    exchange.detail = reply.detail;
  }
  const rendered = renderReply(reply, { head: exchange.method === "HEAD", grpc: exchange.grpc });
  applyResponseFilters(exchange, rendered.head);
  if (reply.close === true) client.closeAfterResponse();
  client.sendHead(rendered.head);
  if (rendered.body !== "") client.write(rendered.body);
  client.end(undefined);
  exchange.finish();
}

/** Aborts a response that has begun and cannot be completed, visibly to the client, and ends the exchange. */
export function cutOff(exchange: Exchange, { error, reason, detail }: LocalReply): void {
  exchange.error = error ?? "";
  exchange.reason = reason;
  exchange.detail = detail;
  exchange.client.abort();
  exchange.finish();
}
