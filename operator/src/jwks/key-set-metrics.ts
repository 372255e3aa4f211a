import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import type { KeySetKeeperOptions } from "./key-set-keeper.ts";

type KeySetMetrics = MetricSet<
  Pick<typeof controllerMetrics, "keySetFetches" | "keySetFetchDuration" | "keySetsFailing">
>;

/** Counts the reports of a keeper of key sets, in the metrics of a controller or of standalone mode. */
export const countKeySets = (
  metrics: KeySetMetrics,
): Required<Pick<KeySetKeeperOptions, "onFetched" | "onFailing">> => ({
  onFetched({ result, durationMs }) {
    metrics.keySetFetches.with({ result }).inc();
    metrics.keySetFetchDuration.with({}).observe(durationMs / 1000);
  },
  onFailing: (count) => metrics.keySetsFailing.with({}).set(count),
});
