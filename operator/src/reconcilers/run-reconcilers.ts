import { randomUUID } from "node:crypto";
import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { type Result, ok, problem } from "@svc-gateway/common/values/result.ts";
import { definitionOf, type KindName } from "../api/kinds.ts";
import type { Build } from "../build/table-builder.ts";
import type { StatusWriter } from "../write/status-writer.ts";
import { createWorkQueue, type WorkQueue } from "../write/work-queue.ts";
import type { Reconciler } from "./reconciler.ts";

export type ReconcileMetrics = Pick<
  MetricSet<typeof controllerMetrics>,
  "reconciles" | "reconcileDuration" | "reconcileErrors"
>;

export type RunReconcilersOptions = {
  readonly reconcilers: readonly Reconciler[];
  readonly statuses: StatusWriter;
  /** Whether what the API server has of an object is what was written here last. */
  readonly isWritten: (kind: KindName, name: string) => boolean;
  readonly metrics: ReconcileMetrics;
  readonly log: Logger;
  /** The leader's term. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
};

export type RunningReconcilers = {
  /** A new build: the objects that it changes are reconciled. */
  onBuild(build: Build): void;
  /** The status of an object was changed by another writer. */
  onObserved(kind: KindName, name: string): void;
  /** Proxies connected, disconnected or reported a change. */
  onProxies(): void;
  /** Resolves when everything is in line. */
  idle(): Promise<void>;
};

/** Writes of one kind at a time, and how fast they may follow each other: the API server has other clients, too. */
const queueLimits = {
  concurrency: 4,
  rate: { perSecond: 200, burst: 200 },
  backoff: { firstMs: 250, maxMs: 60_000 },
} as const;

/**
 * A status that another writer has changed is reconciled after this time: two controllers that overwrite each other
 * must not write without a pause.
 */
const observedDelayMs = 1_000;

/** Runs reconcilers for one term, each with a queue of its own. */
export function runReconcilers(options: RunReconcilersOptions): RunningReconcilers {
  const { reconcilers, signal, log, isWritten, clock = monotonicClock } = options;
  let build: Build | undefined;
  const observed = new Map<KindName, Set<string>>();
  const failures: Failures = new Map();
  let cancelTimer = (): void => {};
  const queues: readonly (readonly [Reconciler, WorkQueue])[] = reconcilers.map((reconciler) => [
    reconciler,
    createWorkQueue({
      ...queueLimits,
      signal,
      // Objects of a namespace that has thousands of them do not hold back those of others.
      turnOf: (name) => name.slice(0, Math.max(0, name.indexOf("/"))),
      process: (name) => reconcileOne(reconciler, name, build, { ...options, failures }),
      onBug: (error) => log.error({ controller: reconciler.controller, err: error }, "reconciliation threw"),
      clock,
    }),
  ]);

  const lookAtObserved = (): void => {
    const waiting = new Map(observed);
    observed.clear();
    for (const [kind, names] of waiting) {
      // The watch may report this controller's own write before the API server has answered it.
      const changed = [...names].filter((name) => !isWritten(kind, name));
      for (const [reconciler, queue] of queues) {
        if (reconciler.kind === kind) for (const name of changed) queue.add(name);
      }
    }
  };
  const unsubscribe = queues.map(([reconciler, queue]) => reconciler.subscribe?.((name) => queue.add(name)));
  const stop = (): void => {
    cancelTimer();
    for (const end of unsubscribe) end?.();
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });

  return {
    onBuild(next) {
      const previous = build;
      build = next;
      for (const [reconciler, queue] of queues) {
        for (const name of reconciler.dirty(previous, next)) queue.add(name);
      }
    },
    onObserved(kind, name) {
      if (signal.aborted || !reconcilers.some((reconciler) => reconciler.kind === kind)) return;
      if (observed.size === 0) cancelTimer = clock.schedule(observedDelayMs, lookAtObserved);
      observed.set(kind, (observed.get(kind) ?? new Set()).add(name));
    },
    onProxies() {
      if (build === undefined || signal.aborted) return;
      for (const [reconciler, queue] of queues) {
        for (const name of reconciler.waitingForProxies?.() ?? []) queue.add(name);
      }
    },
    idle: async () => void (await Promise.all(queues.map(([, queue]) => queue.idle()))),
  };
}

/** The series of a reconciler exist at zero from the start, so that its first error is an increase. */
export function prepareReconcileMetrics(reconcilers: readonly Reconciler[], metrics: ReconcileMetrics): void {
  for (const { controller } of reconcilers) {
    for (const result of ["ok", "error"]) metrics.reconciles.with({ controller, result });
    metrics.reconcileErrors.with({ controller });
    metrics.reconcileDuration.with({ controller });
  }
}

/** The last failure of each controller and object, until a reconciliation succeeds. */
type Failures = Map<string, string>;

async function reconcileOne(
  { controller, kind, reconcile }: Reconciler,
  name: string,
  build: Build | undefined,
  { statuses, metrics, log, signal, failures }: RunReconcilersOptions & { readonly failures: Failures },
): Promise<Result<string>> {
  if (build === undefined) return ok("unchanged");
  const startedMs = performance.now();
  const work = async (): Promise<Result<string>> => reconcile(name, { build, statuses, signal });
  const result = await work().catch(describeBug);
  // Work that was aborted at the end of the term is neither a success nor a failure.
  if (signal.aborted) return result;
  const durationMs = performance.now() - startedMs;
  metrics.reconcileDuration.with({ controller }).observe(durationMs / 1000);
  metrics.reconciles.with({ controller, result: result.ok ? "ok" : "error" }).inc();
  const fields = {
    controller,
    ...objectFields(kind, name),
    reconcileID: randomUUID(),
    duration_ms: Math.round(durationMs * 10) / 10,
  };
  const key = `${controller} ${name}`;
  if (result.ok) {
    // The recovery from a logged failure is logged at the same level.
    log[failures.delete(key) ? "info" : "debug"]({ ...fields, result: result.value }, "reconciled");
  } else {
    metrics.reconcileErrors.with({ controller }).inc();
    const error = result.error.message;
    // It is retried until it succeeds; the same error is logged once.
    const level = failures.get(key) === error ? "debug" : "warn";
    failures.set(key, error);
    log[level]({ ...fields, result: "error", error }, "reconcile failed");
  }
  return result;
}

/**
 * The fields by which tools for controllers that are built with controller-runtime find lines: those of an object, of the
 * reconciler's kind where it has one.
 */
function objectFields(kind: KindName | undefined, object: string): LogFields {
  const slash = object.indexOf("/");
  return {
    object,
    ...(kind !== undefined && { controllerGroup: definitionOf(kind).group, controllerKind: kind }),
    ...(slash !== -1 && { namespace: object.slice(0, slash) }),
    name: object.slice(slash + 1),
  };
}

/** A bug in one reconciler is a failure of what it was working on, and of nothing else. */
const describeBug = (error: unknown): Result<never> =>
  problem(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
