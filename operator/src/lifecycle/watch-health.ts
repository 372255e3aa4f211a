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
  /** Sets the check of a kind that is not watched, if it has one, for good. */
  exempt(kind: KindName, state: HealthState): void;
  /** A watch of a kind has failed, or works. */
  onWatch(kind: KindName, watch: string, state: "works" | "failed"): void;
  /** The first routing table is built and can be delivered. */
  onTable(): void;
  /** Something is near or at its limit, or no longer: the table may be incomplete. */
  onLimit(what: string, isNear: boolean): void;
};

/** A watch that fails for so long makes its check `Degraded`. */
const toleranceMs = 60_000;

const ownChecks: Partial<Record<KindName, ControllerCheck>> = {
  Ingress: "ingress",
  Gateway: "gateway",
  HTTPRoute: "httproute",
};

/**
 * Turns the state of watches into health checks: a kind with a check of its own is `Ready` once it has listed, and
 * `Degraded` from the moment when a watch has failed for a minute until it works again. All other kinds count for
 * `routing_table_built`, since the table is out of date without them, and so do bounds that are nearly reached.
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
