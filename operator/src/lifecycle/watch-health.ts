import type { HealthState, HealthSubsystem } from "@svc-gateway/common/admin/health.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { KindName } from "../api/kinds.ts";

/** The checks of the subsystem `controller` (docs/reference/health.md). */
export const controllerChecks = ["httproute", "ingress", "gateway", "routing_table_built"] as const;
export type ControllerCheck = (typeof controllerChecks)[number];

export type WatchHealthOptions = {
  readonly health: HealthSubsystem<ControllerCheck>;
  readonly log: Logger;
  readonly clock?: Clock;
};

export type WatchHealth = {
  /** Permanently sets the check of a kind that is not watched, if it has one. */
  exempt(kind: KindName, state: HealthState): void;
  /** Reports that a watch of a kind has failed or works. */
  onWatch(kind: KindName, watch: string, state: "works" | "failed"): void;
  /** Reports that the first routing table is built and can be delivered. */
  onTable(): void;
  /** Reports whether something is near or at its limit, in which case the table may be incomplete. */
  onLimit(what: string, isNear: boolean): void;
};

/** The time for which a watch must fail to make its check `Degraded`. */
const toleranceMs = 60_000;

const ownChecks: Partial<Record<KindName, ControllerCheck>> = {
  Ingress: "ingress",
  Gateway: "gateway",
  HTTPRoute: "httproute",
};

/**
 * Converts the state of watches into health checks. A kind with its own check is `Ready` once it has been listed. It is
 * `Degraded` from the time at which a watch has failed for a minute until the watch works again. All other kinds count
 * for `routing_table_built`, because the table is stale without them, and so do limits that are nearly reached.
 */
export function createWatchHealth({ health, log, clock = monotonicClock }: WatchHealthOptions): WatchHealth {
  const checks = new Map<ControllerCheck, { isReady: boolean; readonly broken: Set<string> }>(
    controllerChecks.map((check) => [check, { isReady: false, broken: new Set() }]),
  );
  const timers = new Map<string, () => void>();

  const enter = (check: ControllerCheck, next: HealthState): void => {
    const before = health.get(check);
    if (next === before) return;
    health.set(check, next);
    log.info({ check, from: before, to: next }, "health check changed");
  };

  const update = (check: ControllerCheck, change: (state: CheckState) => void): void => {
    const state = checks.get(check);
    if (state === undefined) return;
    change(state);
    if (state.isReady) enter(check, state.broken.size > 0 ? "Degraded" : "Ready");
  };

  return {
    exempt(kind, state) {
      const check = ownChecks[kind];
      if (check !== undefined) enter(check, state);
    },
    onWatch(kind, watch, state) {
      const own = ownChecks[kind];
      const check = own ?? "routing_table_built";
      const key = `${kind} ${watch}`;
      if (state === "failed") {
        if (timers.has(key)) return;
        const onLate = (): void => update(check, ({ broken }) => broken.add(key));
        timers.set(key, clock.schedule(toleranceMs, onLate));
        return;
      }
      timers.get(key)?.();
      timers.delete(key);
      update(check, (known) => {
        known.broken.delete(key);
        if (own !== undefined) known.isReady = true;
      });
    },
    onLimit: (what, isNear) =>
      update("routing_table_built", ({ broken }) => {
        if (isNear) broken.add(`limit ${what}`);
        else broken.delete(`limit ${what}`);
      }),
    onTable: () => update("routing_table_built", (known) => (known.isReady = true)),
  };
}

type CheckState = { isReady: boolean; readonly broken: Set<string> };
