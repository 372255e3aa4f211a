import type { MetricDeclaration } from "../common/src/telemetry/metric-declaration.ts";
import { processMetrics, threadMetrics } from "../common/src/telemetry/process-metrics.ts";
import {
  controllerMetrics,
  discoveryClientMetrics,
  discoveryServerMetrics,
  proxyMetrics,
  supervisorMetrics,
} from "../common/src/telemetry/metric-declarations.ts";
import { standaloneMetrics } from "../common/src/telemetry/standalone-metrics.ts";

/** Generates docs/reference/metrics.md from the declared metrics. */
export function metricsPage(): string {
  return `# Metrics

<!-- Written by scripts/generate-docs.ts from common/src/telemetry/metric-declarations.ts; change it there. -->

Every process serves \`GET /metrics\` on its admin port (\`--admin-port\`, 8082) in the Prometheus text format.

- \`listener\` is the port in the routing table that a connection was accepted for: the advertised port for Ingresses and
  dedicated Gateways, the internal port (30000 to 32767) for shared Gateways. \`--port-map\` does not change it.
- \`route\` is the route identifier of docs/reference/access-log.md, empty for requests without a route. The series of a route are removed with
  the route; series that its last requests recreate are removed with the next route.
- \`method\` is one of the registered method names, else \`OTHER\`. One listener and route shows at most 256 pairs of
  method and status; further ones are counted under \`OTHER\`.
- \`thread\` is \`main\`, or the number of a worker. Workers serve the requests; the main thread of a proxy only supervises
  them.
- The Gateway of a dedicated proxy is not a label of its series. A scrape can add it from the pod labels
  \`gateway.networking.k8s.io/gateway-name\` and \`gateway.svc-labs.dev/gateway-namespace\`.
- \`/metrics\` shows the whole pod. The column "Workers" says how the values of its worker threads are aggregated:
  \`sum\`, or \`max\` and \`min\` for values that every worker has for itself.

## Every process

${table({ ...processMetrics, ...threadMetrics })}

## Proxy

${table({ ...proxyMetrics, ...supervisorMetrics })}

## Controller

Standalone mode has ${Object.values(standaloneMetrics)
    .map(({ name }) => `\`${name}\``)
    .join(", ")} as well.

${table(controllerMetrics)}

## Discovery, on the controller

${table(discoveryServerMetrics)}

## Discovery, on each proxy

${table(discoveryClientMetrics)}
`;
}

function table(declarations: Readonly<Record<string, MetricDeclaration>>): string {
  return [
    "| Metric | Type | Labels | Workers | Meaning |",
    "| --- | --- | --- | --- | --- |",
    ...Object.values(declarations).map(row),
  ].join("\n");
}

function row({ name, type, labels, merge, help, buckets }: MetricDeclaration): string {
  const range = buckets === undefined ? "" : ` Buckets from ${buckets[0]} to ${buckets.at(-1)} s.`;
  return `| \`${name}\` | ${type} | ${labelsCell(labels)} | ${merge} | ${help}${range} |`;
}

function labelsCell(labels: MetricDeclaration["labels"]): string {
  return Object.entries(labels)
    .map(([label, values]) => `\`${label}\`${values.length === 0 ? "" : ` (${values.join(", ")})`}`)
    .join(", ");
}
