import type { discoveryClientMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";

/** The metrics of the discovery client (docs/reference/metrics.md). */
export type DiscoveryClientMetrics = MetricSet<typeof discoveryClientMetrics>;
