import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { LeadershipState } from "../discovery/leadership-state.ts";

/** Whether this replica holds the lease, for the work of the leader alone. */
export type Leadership = LeadershipState & {
  /** The signal of the present term, which aborts at its end. Undefined while this replica does not lead. */
  term(): AbortSignal | undefined;
};

/** The interface for the election. */
export type LeadershipControl = Leadership & {
  /** Sets the time on the clock until which the lease is held, unless it is renewed before. */
  holdUntil(timeMs: number): void;
  /** Ends leadership because the lease is lost or released: all of the leader's work ends before this returns. */
  resign(): void;
};

export type LeadershipOptions = {
  readonly metrics: Pick<MetricSet<typeof controllerMetrics>, "leader" | "leaderTransitions">;
  readonly log: Logger;
  readonly clock?: Clock;
};

/**
 * Holds the result of the election. Leadership ends automatically if it was not renewed in time, even in a process that
 * was stopped for a while and does not know yet that another replica leads.
 */
export function createLeadership({
  metrics,
  log,
  clock = monotonicClock,
}: LeadershipOptions): LeadershipControl {
  const listeners = createListeners();
  let term: AbortController | undefined;
  let untilMs = 0;
  let cancelTimer = (): void => {};

  const announce = (leading: boolean): void => {
    metrics.leader.with({}).set(leading ? 1 : 0);
    metrics.leaderTransitions.with({}).inc();
    log.info({ leading }, leading ? "leading" : "no longer leading");
    listeners.notify();
  };

  const resign = (): void => {
    cancelTimer();
    const ended = term;
    if (ended === undefined) return;
    term = undefined;
    ended.abort(new Error("the lease is lost"));
    announce(false);
  };

  const hasTerm = (): boolean => {
    if (term !== undefined && clock.nowMs() >= untilMs) resign();
    return term !== undefined;
  };

  return {
    isLeading: hasTerm,
    term: () => (hasTerm() ? term?.signal : undefined),
    subscribe: listeners.subscribe,
    holdUntil(timeMs) {
      // A response that took longer than the lease is too late.
      if (timeMs <= clock.nowMs()) return;
      untilMs = timeMs;
      cancelTimer();
      cancelTimer = clock.schedule(Math.max(0, timeMs - clock.nowMs()), resign);
      if (term !== undefined) return;
      term = new AbortController();
      announce(true);
    },
    resign,
  };
}
