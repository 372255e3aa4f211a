import type { Exchange } from "../exchange/exchange.ts";
import type { Upstream, UpstreamRequest } from "../upstream/upstream.ts";

/** The parts in which the request to a backend and the copies for mirrors can differ. */
type Own = Pick<UpstreamRequest, "headers" | "body" | "upgrade" | "expectContinue">;

/** Builds a client's request for an upstream: the backend of its route, or a mirror. */
export const upstreamRequestOf = (
  exchange: Exchange,
  { protocol }: Upstream,
  { headers, body, upgrade, expectContinue }: Own,
): UpstreamRequest => ({
  protocol,
  method: exchange.method,
  target: exchange.target,
  authority: exchange.upstreamAuthority ?? exchange.authority,
  scheme: exchange.connection.listener.secure ? "https" : "http",
  headers,
  body,
  upgrade: protocol === "http2" ? undefined : upgrade,
  expectContinue,
  closes: exchange.closesUpstream,
  connectTimeoutMs: exchange.upstreamTimeouts?.connectTimeoutMs,
});
