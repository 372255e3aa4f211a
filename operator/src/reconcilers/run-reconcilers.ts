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
  /** Whether the observed version of an object is the last one written by this process. */
  readonly isWritten: (kind: KindName, name: string) => boolean;
  readonly metrics: ReconcileMetrics;
  readonly log: Logger;
  /** Aborts at the end of the leader's term. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
};

export type RunningReconcilers = {
  /** Reconciles the objects that a new build changes. */
  onBuild(build: Build): void;
  /** Reconciles an object whose status was changed by another writer. */
  onObserved(kind: KindName, name: string): void;
  /** Reconciles the objects that wait for proxies, after proxies connected, disconnected or reported a change. */
  onProxies(): void;
  /** Resolves when all queues are empty. */
  idle(): Promise<void>;
};

/** The concurrency and rate of the writes of one kind, limited because the API server has other clients, too. */
const queueLimits = {
  concurrency: 4,
  rate: { perSecond: 200, burst: 200 },
  backoff: { firstMs: 250, maxMs: 60_000 },
} as const;

/**
 * The delay before a status that another writer has changed is reconciled: two controllers that overwrite each other
 * must not write without a pause.
 */
const observedDelayMs = 1_000;

/** Runs reconcilers for one term, each with its own queue. */
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
      // A namespace with thousands of objects does not delay the objects of others.
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
      // The watch can report this controller's own write before the API server has answered it.
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

/** Creates the series of each reconciler at zero, so that its first error is an increase. */
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
    // The reconciliation is retried until it succeeds; the same error is logged only once.
    const level = failures.get(key) === error ? "debug" : "warn";
    failures.set(key, error);
    log[level]({ ...fields, result: "error", error }, "reconcile failed");
  }
  return result;
}

/**
 * The log fields by which tools for controllers built with controller-runtime find lines. They identify the object, and
 * the reconciler's kind if it has one.
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

/** Converts an exception into a failure, so that a bug affects only the object being reconciled. */
const describeBug = (error: unknown): Result<never> =>
  problem(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
