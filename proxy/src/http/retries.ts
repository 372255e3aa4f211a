import type { CompiledUpstream } from "../exchange/compiled-route.ts";
import type { Cancellable } from "../exchange/exchange.ts";
import type { RetryCondition, RetryPlan } from "../exchange/filter.ts";
import { noSelection } from "../message/local-reply.ts";
import type { ResponseHead } from "../message/message.ts";
import { isIdempotent } from "../message/methods.ts";
import type { UpstreamError } from "../upstream/upstream-errors.ts";
import type { UpstreamEndpoint } from "../upstream/upstream.ts";
import { countRetry, type RetryReason } from "./attempt-failures.ts";
import type { AttemptOwner, RetryDecision } from "./attempt-owner.ts";
import { Attempt } from "./attempt.ts";

/** A wait may be longer than the backoff by up to this share, so that requests that failed together do not return together. */
const jitterShare = 0.5;

/**
 * The attempts of one request on a route with retries, one after another. Whether a failed one is followed by another
 * is decided here: by the plan of the route, by what the client has seen, by whether the body can be sent again, and by
 * the budget of the backend (docs/features/retry.md).
 */
export class Retries implements Cancellable, RetryDecision {
  private readonly owner: AttemptOwner;
  private readonly plan: RetryPlan;
  private readonly backend: CompiledUpstream;
  private readonly tried = new Set<UpstreamEndpoint>();
  private left: number;
  private readonly startedMs = performance.now();
  private waiting: NodeJS.Timeout | undefined = undefined;

  constructor(owner: AttemptOwner, plan: RetryPlan, backend: CompiledUpstream) {
    this.owner = owner;
    this.plan = plan;
    this.backend = backend;
    this.left = plan.attempts;
    backend.upstream.retryBudget.deposit();
  }

  /** Starts an attempt with an endpoint that has not been tried, if there is one; 503 when there is none at all. */
  readonly attempt = (): void => {
    const { owner, tried } = this;
    const { exchange } = owner;
    if (exchange.finished) return;
    // The current upstream: an endpoint that was removed meanwhile is not tried any more.
    const { upstream } = this.backend;
    const selection = upstream.pick(exchange, tried.size === 0 ? undefined : tried);
    if (selection === undefined) return owner.reply(noSelection(upstream));
    tried.add(selection.endpoint);
    new Attempt(owner, upstream, selection).start();
  };

  /** A response is on its way to the client, so this attempt is the last. */
  settle(): void {
    this.left = 0;
    this.owner.body?.forget();
  }

  /** True when the response that begins with this head is discarded and another attempt follows. */
  afterResponse(head: ResponseHead): boolean {
    const { body } = this.owner;
    const reason = this.reasonOf(head);
    if (reason === undefined) return false;
    // Statuses of a plan without conditions are declared safe to repeat.
    if (this.plan.conditions !== undefined && !this.mayRepeat(true)) return false;
    return (body === null || body.complete) && this.again(reason);
  }

  /** True when another attempt follows one that ended in this error. */
  afterError(error: UpstreamError): boolean {
    const reason = reasons[error.kind];
    if (reason === undefined) return false;
    if (!this.isWanted(error.kind) || !this.mayRepeat(error.requestSent)) return false;
    return this.again(reason, this.leadsElsewhere(error) ? "free" : "budgeted");
  }

  /** True when no connection was made and an untried endpoint is left: no endpoint has worked on the request yet, so such a retry is free. */
  private leadsElsewhere({ requestSent, kind }: UpstreamError): boolean {
    return !requestSent && kind !== "reset" && this.tried.size < this.backend.upstream.endpoints.length;
  }

  /** True when another attempt follows one that took longer than the route allows, which is a 504. */
  afterTimeout(): boolean {
    const { conditions, codes } = this.plan;
    const isWanted = conditions === undefined ? codes.has(504) : conditions.has("timeout");
    return isWanted && this.mayRepeat(true) && this.again("timeout");
  }

  /** Whether the plan has another attempt follow a failure of this kind. */
  private isWanted(kind: UpstreamError["kind"]): boolean {
    const { conditions, codes } = this.plan;
    // A response that breaks HTTP is answered 502, and the policy says whether that is retried.
    if (conditions === undefined) return kind !== "invalid" || codes.has(502);
    const named = planConditions[kind];
    return named !== undefined && conditions.has(named);
  }

  /** Whether an upstream that may have seen the request may see it again. */
  private mayRepeat(requestSent: boolean): boolean {
    const { plan, owner } = this;
    if (!requestSent || plan.everyMethod) return true;
    const { method } = owner.exchange;
    return plan.conditions === undefined ? isIdempotent(method) : !unrepeated.has(method);
  }

  /** Ends the wait for the next attempt. */
  cancel(): void {
    clearTimeout(this.waiting);
  }

  private reasonOf({ status, headers, length }: ResponseHead): RetryReason | undefined {
    const { plan } = this;
    if (plan.codes.has(status)) return status >= 500 ? "5xx" : "http-code";
    if (plan.grpcCodes.size === 0 || !this.owner.exchange.grpc || length !== 0) return undefined;
    return plan.grpcCodes.has(Number(headers.joined("grpc-status"))) ? "grpc-code" : undefined;
  }

  private again(reason: RetryReason, cost: "budgeted" | "free" = "budgeted"): boolean {
    const { exchange, deps, body } = this.owner;
    const { upstream } = this.backend;
    if (performance.now() - this.startedMs >= this.plan.withinMs) return false;
    if (this.left === 0 || upstream.endpoints.length === 0 || body?.replayable === false) return false;
    if (cost === "budgeted" && !upstream.retryBudget.withdraw(performance.now())) {
      deps.metrics.limitsReached.with({ limit: "retry-budget" }).inc();
      return false;
    }
    this.left--;
    countRetry(exchange, deps.metrics, reason);
    body?.rewind();
    exchange.work = this;
    const { backoffMs } = this.plan;
    if (backoffMs === 0) process.nextTick(this.attempt);
    else this.waiting = setTimeout(this.attempt, backoffMs * (1 + Math.random() * jitterShare));
    return true;
  }
}

/** The methods that are not repeated once they were sent, where a plan names its conditions. */
const unrepeated: ReadonlySet<string> = new Set(["POST", "LOCK", "PATCH"]);

/** What a plan with conditions calls failures without a response. */
const planConditions: { readonly [Kind in UpstreamError["kind"]]: RetryCondition | undefined } = {
  refused: "error",
  connect: "error",
  "no-socket": "error",
  tls: "error",
  "connect-timeout": "timeout",
  "own-port": undefined,
  reset: "error",
  timeout: "timeout",
  invalid: "invalid-response",
  "request-body": undefined,
};

/** Why failures without a response are retried. Broken requests never are: they would fail again. */
const reasons: { readonly [Kind in UpstreamError["kind"]]: RetryReason | undefined } = {
  refused: "connect-failure",
  connect: "connect-failure",
  "no-socket": "connect-failure",
  tls: "connect-failure",
  "connect-timeout": "timeout",
  "own-port": undefined,
  reset: "connect-failure",
  timeout: "timeout",
  invalid: "5xx",
  "request-body": undefined,
};
