import type { discoveryServerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";

/** The families of the controller's side of the discovery channel (docs/reference/metrics.md). */
export type DiscoveryServerMetrics = MetricSet<typeof discoveryServerMetrics>;
