import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import { backoffMs } from "@svc-gateway/common/time/backoff.ts";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import { scheduleAt } from "@svc-gateway/common/time/schedule-at.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { fail, type Result } from "@svc-gateway/common/values/result.ts";
import { reconnecting, renewing } from "./backoff.ts";
import type { BootstrapFailure } from "./bootstrap.ts";
import type { DiscoveryClientMetrics } from "./discovery-client-metrics.ts";
import type { ProxyIdentity } from "./proxy-identity.ts";

/** Keeps the proxy's certificate valid. */
export type IdentityKeeper = {
  /** The valid certificate; undefined before the first one, and once the last one has expired. */
  current(): ProxyIdentity | undefined;
  /** Calls back with each new certificate; the returned function unsubscribes. */
  subscribe(listener: (identity: ProxyIdentity) => void): () => void;
  /**
   * Requests another certificate, at most once a minute and not after a permanent rejection; called when controllers seem
   * to reject the current one.
   */
  renewSoon(): void;
  start(): void;
  stop(): void;
};

export type IdentityKeeperOptions = {
  readonly request: (signal: AbortSignal) => Promise<Result<ProxyIdentity, BootstrapFailure>>;
  /** Called when the controllers use another wire version; the keeper then schedules no further request. */
  readonly onRejected: (message: string) => void;
  /** Schedules the next attempt while there is no valid certificate. */
  readonly scheduleRetry: Clock["schedule"];
  readonly metrics: DiscoveryClientMetrics;
  readonly log: Logger;
  /** The time of day, which determines the validity of certificates. */
  readonly clock: Clock;
  readonly random: () => number;
};

const gaugeIntervalMs = 10_000;
const leastRenewalGapMs = 60_000;
const clockIsWrong =
  "the certificate that the controller has issued has expired by the clock of this machine, expected clocks that agree; requested again";

/**
 * Obtains a certificate, renews it at half of its lifetime, and retries after failures: as often as reconnects while no
 * certificate is valid, and less often while the old one still is. See docs/discovery.md, "Identities".
 */
export function createIdentityKeeper(options: IdentityKeeperOptions): IdentityKeeper {
  const { request, onRejected, scheduleRetry, metrics, log, clock, random } = options;
  const listeners = createListeners<[identity: ProxyIdentity]>();
  const abort = new AbortController();
  let identity: ProxyIdentity | undefined;
  let failures = 0;
  let lastAttemptMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  let isRejected = false;
  let cancelTimer = (): void => {};
  let cancelGauge = (): void => {};

  const current = (): ProxyIdentity | undefined =>
    identity !== undefined && identity.notAfterMs > clock.nowMs() ? identity : undefined;

  const updateGauge = (): void => {
    if (abort.signal.aborted) return;
    cancelGauge();
    if (identity !== undefined) {
      metrics.svidExpiry.with({}).set(Math.max(0, (identity.notAfterMs - clock.nowMs()) / 1000));
    }
    cancelGauge = clock.schedule(gaugeIntervalMs, updateGauge);
  };

  const plan = (delayMs: number, schedule = clock.schedule): void => {
    cancelTimer();
    cancelTimer = schedule(delayMs, () => void ask());
  };

  const accept = (next: ProxyIdentity): void => {
    failures = 0;
    identity = next;
    metrics.bootstraps.with({ result: "success" }).inc();
    updateGauge();
    log.info({ not_after: new Date(next.notAfterMs).toISOString() }, "workload identity obtained");
    cancelTimer();
    cancelTimer = scheduleAt(clock, (clock.nowMs() + next.notAfterMs) / 2, () => void ask());
    listeners.notify(next);
  };

  const refuse = ({ message, isPermanent }: BootstrapFailure): void => {
    failures += 1;
    metrics.bootstraps.with({ result: "failure" }).inc();
    if (isPermanent) {
      isRejected = true;
      cancelTimer();
      return onRejected(message);
    }
    const hasNone = current() === undefined;
    const delayMs = backoffMs(hasNone ? reconnecting : renewing, failures, random);
    log.warn({ reason: message, retry_in_ms: Math.round(delayMs) }, "workload identity not obtained");
    plan(delayMs, hasNone ? scheduleRetry : clock.schedule);
  };

  const ask = async (): Promise<void> => {
    if (isAsking || abort.signal.aborted) return;
    isAsking = true;
    lastAttemptMs = clock.nowMs();
    const result = await request(abort.signal).catch((error: unknown) =>
      fail<BootstrapFailure>({ message: `internal error: ${String(error)}`, isPermanent: false }),
    );
    isAsking = false;
    if (abort.signal.aborted) return;
    if (!result.ok) refuse(result.error);
    else if (result.value.notAfterMs > clock.nowMs()) accept(result.value);
    else refuse({ message: clockIsWrong, isPermanent: false });
  };

  return {
    current,
    subscribe: listeners.subscribe,
    renewSoon() {
      if (isRejected) return;
      // The absolute value, because a clock that was set back must not delay the renewal.
      if (Math.abs(clock.nowMs() - lastAttemptMs) >= leastRenewalGapMs) plan(0);
    },
    start() {
      updateGauge();
      void ask();
    },
    stop() {
      abort.abort();
      cancelTimer();
      cancelGauge();
    },
  };
}
