import { exposeExport, type Exposition } from "@svc-gateway/common/telemetry/exposition.ts";
import { mergeExports } from "@svc-gateway/common/telemetry/merge-metrics.ts";
import type { MetricExport } from "@svc-gateway/common/telemetry/metric-set.ts";
import { keepSeries } from "@svc-gateway/common/telemetry/metric-snapshot.ts";

/** The combined metrics of a proxy with several workers. Kept by the supervisor, which answers `/metrics`. */
export type MergedMetrics = {
  /** Replaces the values of a worker by its current ones. */
  report(worker: number, values: MetricExport): void;
  /** Called when a worker has ended: keeps its counters and drops its gauges. */
  retire(worker: number): void;
  /** Drops the counters of ended workers for routes that were removed. */
  forgetRoutes(routeIds: ReadonlySet<string>): void;
  /** All values in the Prometheus text format, together with the supervisor's own. */
  expose(...own: readonly MetricExport[]): Promise<Exposition>;
};

/** Creates the merged metrics of one pod. Counters never decrease, even if workers are replaced. */
export function createMergedMetrics(): MergedMetrics {
  const byWorker = new Map<number, MetricExport>();
  let retired: MetricExport = [];
  /** The chain of asynchronous merges, which run sequentially; readers of `retired` wait for them. */
  let merging: Promise<void> = Promise.resolve();
  const afterMerges = (update: () => void | Promise<void>): void => {
    merging = merging.then(update);
  };
  return {
    report: (worker, values) => void byWorker.set(worker, values),
    retire(worker) {
      const counted = (byWorker.get(worker) ?? []).filter(({ declaration }) => declaration.type !== "gauge");
      byWorker.delete(worker);
      afterMerges(async () => {
        retired = await mergeExports([retired, counted]);
      });
    },
    forgetRoutes(routeIds) {
      afterMerges(() => {
        if (routeIds.size === 0) return;
        retired = retired.map((metric) => keepSeries(metric, ({ route = "" }) => !routeIds.has(route)));
      });
    },
    async expose(...own) {
      await merging;
      return exposeExport(await mergeExports([retired, ...byWorker.values(), ...own]));
    },
  };
}
