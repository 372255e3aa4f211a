import type { CircuitBreaker } from "@svc-gateway/common/features/backend-policy.ts";

/** The window moves in eighths. */
const steps = 8;

type Request = { readonly term: number; readonly isProbe: boolean };

/**
 * A simple circuit breaker for a single thread, which keeps a list of the outcomes with their times. Terms number the
 * states, so that outcomes of requests from an earlier state are ignored.
 */
export class BreakerModel {
  state: "closed" | "open" | "half_open" = "closed";
  private readonly settings: CircuitBreaker;
  private term = 0;
  private openUntil = 0;
  private trips = 0;
  private closedAt = Number.NEGATIVE_INFINITY;
  private probeSince: number | undefined = undefined;
  private counts: { readonly step: number; readonly requests: number; readonly failures: number }[] = [];

  constructor(settings: CircuitBreaker) {
    this.settings = settings;
  }

  admit(now: number): Request | undefined {
    if (this.state === "closed") return { term: this.term, isProbe: false };
    if (this.state === "open" && now < this.openUntil) return undefined;
    if (this.probeSince !== undefined && now < this.probeSince + 300_000) return undefined;
    this.enter("half_open");
    this.probeSince = now;
    return { term: this.term, isProbe: true };
  }

  report(
    { term, isProbe }: Request,
    verdict: "succeeded" | "failed" | "failedLate" | "none",
    now: number,
  ): void {
    if (term !== this.term) return;
    if (isProbe) {
      if (verdict === "none") {
        this.probeSince = undefined;
        this.term++;
      } else if (verdict === "succeeded") {
        this.enter("closed");
        this.counts = [];
        this.closedAt = now;
      } else if (verdict === "failed") {
        this.open(now);
      }
      return;
    }
    if (verdict === "none") return;
    const step = Math.floor(now / (this.settings.windowMs / steps));
    this.counts.push({
      step,
      requests: verdict === "failedLate" ? 0 : 1,
      failures: verdict === "succeeded" ? 0 : 1,
    });
    this.counts = this.counts.filter((count) => count.step > step - steps);
    const sum = (of: "requests" | "failures"): number =>
      this.counts.reduce((total, count) => total + count[of], 0);
    const { minRequests, threshold } = this.settings;
    if (sum("requests") < minRequests || sum("failures") === 0) return;
    if (sum("failures") * 100 < threshold * sum("requests")) return;
    if (now - this.closedAt >= this.settings.windowMs) this.trips = 0;
    this.open(now);
  }

  private open(now: number): void {
    const { openMs, maxOpenMs } = this.settings;
    this.openUntil = now + Math.ceil(Math.min(openMs * 2 ** this.trips, maxOpenMs));
    this.trips++;
    this.enter("open");
  }

  private enter(state: BreakerModel["state"]): void {
    this.state = state;
    this.term++;
    this.probeSince = undefined;
  }
}
