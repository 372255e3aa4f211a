import { BreakerTable } from "../../src/upstream/breaker/breaker-table.ts";
import { createUpstreamRegistry, type UpstreamRegistry } from "../../src/upstream/upstream-registry.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";
import { createSharedMemory } from "../../src/shared/shared-memory.ts";

/** The upstreams of one endpoint set with these ports on loopback. */
export function createTestRegistry(set: string, ports: readonly number[]): UpstreamRegistry {
  const registry = createUpstreamRegistry({
    retire: () => undefined,
    usableEndpoints: { set: () => undefined, retain: () => undefined },
    breakers: {
      table: new BreakerTable(createSharedMemory(1).breakers),
      nowMs: () => 0,
      metrics: createProxyMetrics(),
    },
  });
  const [namespace = "", service = ""] = set.split("/");
  const addresses = ports.map((port) => ({ host: "127.0.0.1", port }));
  registry.update({
    endpoints: new Map([[set, { service: `${namespace}/${service}`, resolve: "static", addresses }]]),
  });
  return registry;
}
