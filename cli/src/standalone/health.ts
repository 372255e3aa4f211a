import type { HealthRegistry, HealthState } from "@svc-gateway/common/admin/health.ts";
import type { StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";

/** What the process says about itself on its health port (docs/reference/health.md). */
export type StandaloneHealth = {
  /** The folder was read; `isReadable` is false while it cannot be read any more. */
  sourceRead(isReadable: boolean): void;
  /** A routing table was built, and the proxy serves it. */
  tableServed(): void;
};

export function createStandaloneHealth(
  registry: HealthRegistry,
  { disableIngress, disableGatewayApi }: Pick<StandaloneSettings, "disableIngress" | "disableGatewayApi">,
): StandaloneHealth {
  const controller = registry.register("controller", [
    "ingress",
    "httproute",
    "gateway",
    "routing_table_built",
  ]);
  const proxy = registry.register("proxy", ["routing_table_loaded"]);
  return {
    sourceRead(isReadable) {
      // What a flag switched off lacks nothing, as in a cluster.
      const stateOf = (isDisabled: boolean): HealthState => (isReadable || isDisabled ? "Ready" : "Degraded");
      controller.set("ingress", stateOf(disableIngress));
      controller.set("httproute", stateOf(disableGatewayApi));
      controller.set("gateway", stateOf(disableGatewayApi));
    },
    tableServed() {
      controller.set("routing_table_built", "Ready");
      proxy.set("routing_table_loaded", "Ready");
    },
  };
}
