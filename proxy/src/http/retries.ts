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

/**
 * The largest random addition to a backoff, as a share of it, so that requests that failed together are not retried
 * together.
 */
const jitterShare = 0.5;

/**
 * The maximum number of free retries of one request; further ones use the budget. `attempts` has no maximum, and
 * attempts that fail without a connection take no time in which other requests could be served.
 */
const maxFreeRetries = 32;

/**
 * The sequential attempts of one request on a route with retries. Decides whether another attempt follows a failed one.
 * That depends on the plan of the route, on what the client has received, on whether the body can be sent again, and on
 * the retry budget of the backend (docs/features/retry.md).
 */
export class Retries implements Cancellable, RetryDecision {
  private readonly owner: AttemptOwner;
  private readonly plan: RetryPlan;
  private readonly backend: CompiledUpstream;
  private readonly tried = new Set<UpstreamEndpoint>();
  private left: number;
  private freeLeft = maxFreeRetries;
  private readonly startedMs = performance.now();
  private waiting: NodeJS.Timeout | undefined = undefined;

  constructor(owner: AttemptOwner, plan: RetryPlan, backend: CompiledUpstream) {
    this.owner = owner;
    this.plan = plan;
    this.backend = backend;
    this.left = plan.attempts;
    backend.upstream.retryBudget.deposit();
  }

  /** Starts an attempt, preferably at an endpoint that has not been tried; answers 503 if no endpoint is available. */
  readonly attempt = (): void => {
    const { owner, tried } = this;
    const { exchange } = owner;
    if (exchange.finished) return;
    // Read for each attempt, so that an endpoint that was removed meanwhile is not tried.
    const { upstream } = this.backend;
    const selection = upstream.pick(exchange, tried.size === 0 ? undefined : tried);
    if (selection === undefined) return owner.reply(noSelection(upstream));
    tried.add(selection.endpoint);
    new Attempt(owner, upstream, selection).start();
  };

  /** Makes the current attempt the last one, because a response is on its way to the client. */
  settle(): void {
    this.left = 0;
    this.owner.body?.forget();
  }

  /** Returns true if the response that begins with this head is discarded and another attempt follows. */
  afterResponse(head: ResponseHead): boolean {
    const reason = this.reasonOf(head);
    if (reason === undefined) return false;
    // The statuses of a plan without conditions are configured as safe to retry.
    if (this.plan.conditions !== undefined && !this.mayRepeat(true)) return false;
    return this.again(reason);
  }

  /** Returns true if another attempt follows one that ended in this error. */
  afterError(error: UpstreamError): boolean {
    const reason = reasons[error.kind];
    if (reason === undefined) return false;
    if (!this.isWanted(error.kind) || !this.mayRepeat(error.requestSent)) return false;
    return this.again(reason, isConnectFailure(error) ? "free" : "budgeted");
  }

  /** Returns true if another attempt follows one that exceeded a time limit of the route, which counts as a 504. */
  afterTimeout(): boolean {
    const { conditions, codes } = this.plan;
    const isWanted = conditions === undefined ? codes.has(504) : conditions.has("timeout");
    return isWanted && this.mayRepeat(true) && this.again("timeout");
  }

  /** Reports whether the plan retries a failure of this kind. */
  private isWanted(kind: UpstreamError["kind"]): boolean {
    const { conditions, codes } = this.plan;
    // An invalid HTTP response is answered 502, and is retried only if the policy lists that status.
    if (conditions === undefined) return kind !== "invalid" || codes.has(502);
    const named = planConditions[kind];
    return named !== undefined && conditions.has(named);
  }

  /** Reports whether the request may be sent again, given whether an upstream may have received it. */
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
    const { backoffMs, withinMs } = this.plan;
    const waitMs = backoffMs * (1 + Math.random() * jitterShare);
    if (performance.now() - this.startedMs + waitMs >= withinMs) return false;
    if (this.left === 0 || upstream.endpoints.length === 0 || body?.restartable === false) return false;
    const isFree = cost === "free" && this.freeLeft > 0;
    if (!isFree && !upstream.retryBudget.withdraw(performance.now())) {
      deps.metrics.limitsReached.with({ limit: "retry-budget" }).inc();
      return false;
    }
    this.left--;
    if (isFree) this.freeLeft--;
    countRetry(exchange, deps.metrics, reason);
    body?.rewind();
    exchange.work = this;
    if (waitMs === 0) process.nextTick(this.attempt);
    else this.waiting = setTimeout(this.attempt, waitMs);
    return true;
  }
}

/**
 * Reports whether no connection was made. A retry is then free, because no endpoint has worked on the request. A server
 * that rejects a stream of its connection has (`reset`).
 */
const isConnectFailure = ({ requestSent, kind }: UpstreamError): boolean => !requestSent && kind !== "reset";

/** The methods that are not retried once they were sent, for plans with conditions. */
const unrepeated: ReadonlySet<string> = new Set(["POST", "LOCK", "PATCH"]);

/** The conditions of a plan that failures without a response correspond to. */
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

/** The reasons for retrying failures without a response. Broken requests are not retried: they would fail again. */
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
