import type { Admission } from "./breaker/upstream-breakers.ts";
import type { EndpointLoad } from "./endpoint-load.ts";
import { realNowMs } from "../timing/real-clock.ts";
import type { AttemptWatch } from "./upstream.ts";

/**
 * The lowest latency that is recorded for a failed attempt, in milliseconds. Without it, an endpoint that refuses
 * connections immediately would look like the fastest one.
 */
const failureLatencyMs = 1_000;

/** Records one attempt in the load of its endpoint and in its circuit breaker. */
export class EndpointWatch implements AttemptWatch {
  private readonly load: EndpointLoad | undefined;
  private readonly admission: Admission | undefined;
  private readonly startedMs: number;
  private phase: "waiting" | "answered" | "failed" = "waiting";

  constructor(load: EndpointLoad | undefined, admission: Admission | undefined) {
    this.load = load;
    this.admission = admission;
    this.startedMs = load === undefined ? 0 : realNowMs();
    if (load !== undefined) load.inFlight++;
  }

  responded(status: number): void {
    if (this.phase !== "waiting") return;
    this.phase = status < 500 ? "answered" : "failed";
    this.load?.observe(realNowMs() - this.startedMs);
    this.admission?.report(status < 500 ? "succeeded" : "failed");
  }

  failed(): void {
    const { phase } = this;
    if (phase === "failed") return;
    this.phase = "failed";
    if (phase === "answered") {
      this.admission?.report("failedLate");
    } else {
      this.load?.observe(Math.max(realNowMs() - this.startedMs, failureLatencyMs));
      this.admission?.report("failed");
    }
  }

  ended(): void {
    if (this.load !== undefined) this.load.inFlight--;
    if (this.phase === "waiting") this.admission?.report("none");
  }
}
