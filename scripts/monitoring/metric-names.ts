import type { MetricDeclaration } from "../../common/src/telemetry/metric-declaration.ts";
import {
  controllerMetrics,
  discoveryClientMetrics,
  discoveryServerMetrics,
  proxyMetrics,
  supervisorMetrics,
} from "../../common/src/telemetry/metric-declarations.ts";
import { processMetrics, threadMetrics } from "../../common/src/telemetry/process-metrics.ts";

type Names<Set> = { readonly [Key in keyof Set]: string };

const namesOf = <Set extends Readonly<Record<string, MetricDeclaration>>>(set: Set): Names<Set> =>
  Object.fromEntries(Object.entries(set).map(([key, { name }]) => [key, name])) as Names<Set>;

/** The names of all metrics, by the keys of their declarations. */
export const names = {
  proxy: namesOf({ ...proxyMetrics, ...supervisorMetrics }),
  controller: namesOf(controllerMetrics),
  server: namesOf(discoveryServerMetrics),
  client: namesOf(discoveryClientMetrics),
  process: namesOf({ ...processMetrics, ...threadMetrics }),
};

/** Every declared metric. */
export const allMetrics: readonly MetricDeclaration[] = [
  proxyMetrics,
  supervisorMetrics,
  controllerMetrics,
  discoveryServerMetrics,
  discoveryClientMetrics,
  processMetrics,
  threadMetrics,
].flatMap((set): readonly MetricDeclaration[] => Object.values(set));
