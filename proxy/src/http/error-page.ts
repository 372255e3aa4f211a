import type { ErrorPagePlan } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { HeaderList } from "../message/message.ts";
import type { AttemptOwner } from "./attempt-owner.ts";
import { Attempt } from "./attempt.ts";

/** The longest waits for a page, so that a client never waits long for the news of a failure. */
const timeouts = { readTimeoutMs: 10_000, readGapMs: 10_000 };

/** Fields about the failed request, which a client must not be able to forge. */
const describing = new Set([
  ...["x-code", "x-format", "x-original-uri", "x-namespace", "x-ingress-name"],
  ...["x-service-name", "x-service-port"],
]);

/** Conditions and ranges concern the resource that was asked for, not the page. */
const conditions = new Set([
  ...["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"],
  "x-forwarded-for",
]);

/**
 * A request to the Service that answers in place of an error, as one more attempt of the same exchange: its answer goes to the
 * client with its own status, and passes the same response filters. Without an answer the client gets the error. See
 * docs/features/error-pages.md.
 */
export class ErrorPage implements AttemptOwner {
  readonly exchange: AttemptOwner["exchange"];
  readonly deps: AttemptOwner["deps"];
  /** The body of the client's request was for its backend. */
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

  /** Asks the Service; false when it has no endpoint to ask. */
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
 * Whether a Service answers in place of this status. Errors of gRPC are in trailers, and a client that asks for a tunnel over
 * HTTP/2 can take none but a refusal.
 */
export function isReplaced(
  { version, upgrade, grpc }: AttemptOwner["exchange"],
  { codes }: ErrorPagePlan,
  status: number,
): boolean {
  const isTunnel = version === "2.0" && upgrade !== undefined;
  return codes.has(status) && !grpc && !isTunnel;
}

/** Sets the fields by which the Service knows what has failed. */
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
