import type { discoveryClientMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";

/** The families of the proxy's side of the discovery channel (docs/reference/metrics.md). */
export type DiscoveryClientMetrics = MetricSet<typeof discoveryClientMetrics>;
