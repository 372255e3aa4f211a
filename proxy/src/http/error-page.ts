import type { Exchange } from "../exchange/exchange.ts";
import type { ErrorPagePlan } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { HeaderList } from "../message/message.ts";
import type { AttemptOwner } from "./attempt-owner.ts";
import { Attempt } from "./attempt.ts";

/** The time limits of a request for a page, so that a client never waits long to learn of a failure. */
const timeouts = { readTimeoutMs: 10_000, readGapMs: 10_000 };

/** Fields that describe the failed request, which a client must not be able to forge. */
const describing = new Set([
  ...["x-code", "x-format", "x-original-uri", "x-namespace", "x-ingress-name"],
  ...["x-service-name", "x-service-port"],
]);

/** Fields removed from the request for a page: conditions and ranges concern the requested resource, not the page. */
const conditions = new Set([
  ...["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"],
  "x-forwarded-for",
]);

/**
 * A request to the Service that answers instead of an error. It is one more attempt of the same exchange: the client
 * gets the response of the Service with its own status, after the same response filters. If the Service does not
 * answer, the client gets the error. See docs/features/error-pages.md.
 */
export class ErrorPage implements AttemptOwner {
  readonly exchange: AttemptOwner["exchange"];
  readonly deps: AttemptOwner["deps"];
  /** Null, because the body of the client's request was meant for its backend. */
  readonly body = null;
  readonly retries = undefined;
  private readonly request: Pick<AttemptOwner, "reply">;
  private readonly error: LocalReply;

  constructor(request: AttemptOwner, error: LocalReply) {
    this.request = request;
    this.exchange = request.exchange;
    this.deps = request.deps;
    this.error = error;
  }

  /** Sends the request to the Service; returns false if it has no endpoint. */
  start(plan: ErrorPagePlan): boolean {
    const { exchange, error } = this;
    const upstream = plan.page?.();
    const selection = upstream?.pick(exchange);
    if (upstream === undefined || selection === undefined) return false;
    const original = exchange.matchedPath + exchange.query;
    exchange.path = "/";
    exchange.query = "";
    exchange.upgrade = undefined;
    exchange.upstreamAuthority = undefined;
    exchange.rewriteUpstreamFields = undefined;
    exchange.backendFilters = [];
    exchange.closesUpstream = false;
    exchange.upstreamTimeouts = timeouts;
    exchange.upstreamService = upstream.service;
    describeFailure(exchange, error.status, plan.fields);
    exchange.headers.remove(conditions);
    exchange.headers.appendAll(["X-Original-URI", original, "X-Forwarded-For", exchange.clientIp]);
    if (error.error !== undefined) {
      exchange.error = error.error;
      exchange.reason = error.reason;
      exchange.detail = error.detail;
    }
    if (error.close === true) exchange.client.closeAfterResponse();
    new Attempt(this, upstream, selection).start();
    return true;
  }

  intercepts(): boolean {
    return false;
  }

  reply(): void {
    this.request.reply(this.error);
  }
}

/**
 * Reports whether a Service answers instead of this status. Not for gRPC, whose errors are in trailers, nor for a
 * client that requests a tunnel over HTTP/2, which a 2xx status of the Service would establish.
 */
export function isReplaced(
  { version, upgrade, grpc }: AttemptOwner["exchange"],
  { codes }: ErrorPagePlan,
  status: number,
): boolean {
  const isTunnel = version === "2.0" && upgrade !== undefined;
  return codes.has(status) && !grpc && !isTunnel;
}

/**
 * Removes the fields of a refused request that its backend would not have received from the client: those in which the
 * checks of the route report who the client is, and credentials that they hide.
 */
export function withholdUnchecked(exchange: Exchange): void {
  for (const filter of exchange.route?.filters ?? []) {
    filter.onUnchecked?.(exchange);
    filter.onAdmitted?.(exchange);
  }
}

/** Sets the fields that describe the failure to the Service. */
export function describeFailure(
  exchange: AttemptOwner["exchange"],
  status: number,
  fields: HeaderList,
): void {
  const { headers, received } = exchange;
  headers.remove(describing);
  const format = received.joined("accept");
  headers.appendAll(["X-Code", String(status), ...fields]);
  if (format !== undefined && format !== "") headers.append("X-Format", format);
  if (headers.first("x-request-id") === undefined) headers.append("X-Request-ID", exchange.requestId);
}
