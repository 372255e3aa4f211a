import type { HealthRegistry, HealthState } from "@svc-gateway/common/admin/health.ts";
import type { StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";

/** The health checks of the process (docs/reference/health.md). */
export type StandaloneHealth = {
  /** Called when the folder was read; `isReadable` is false if it can no longer be read. */
  sourceRead(isReadable: boolean): void;
  /** Called when the proxy serves a routing table with listeners on these ports, which are not necessarily bound. */
  tableServed(ports: readonly number[]): void;
  /** Called with the listener ports that are bound. */
  portsBound(ports: readonly number[]): void;
};

/** Creates the checks. `onReady` is called once, when the first table is served on all of its ports. */
export function createStandaloneHealth(
  registry: HealthRegistry,
  { disableIngress, disableGatewayApi }: Pick<StandaloneSettings, "disableIngress" | "disableGatewayApi">,
  onReady: () => void = () => {},
): StandaloneHealth {
  const controller = registry.register("controller", [
    "ingress",
    "httproute",
    "gateway",
    "routing_table_built",
  ]);
  const proxy = registry.register("proxy", ["routing_table_loaded"]);
  let wanted: readonly number[] | undefined;
  let bound: ReadonlySet<number> = new Set();
  /** Updates the check: pending until all ports are bound; later, a port that cannot be bound only degrades it. */
  const updateProxyCheck = (): void => {
    if (wanted === undefined) return;
    const missing = wanted.filter((port) => !bound.has(port));
    const hasBeenReady = proxy.get("routing_table_loaded") !== "Pending";
    const otherwise = hasBeenReady ? "Degraded" : "Pending";
    const why = `no socket for listener ${missing.join(", ")}, see the log`;
    proxy.set("routing_table_loaded", missing.length === 0 ? "Ready" : otherwise, why);
    if (missing.length === 0 && !hasBeenReady) onReady();
  };
  return {
    sourceRead(isReadable) {
      // An API that a flag disables is ready, as in a cluster.
      const stateOf = (isDisabled: boolean): HealthState => (isReadable || isDisabled ? "Ready" : "Degraded");
      controller.set("ingress", stateOf(disableIngress));
      controller.set("httproute", stateOf(disableGatewayApi));
      controller.set("gateway", stateOf(disableGatewayApi));
    },
    tableServed(ports) {
      controller.set("routing_table_built", "Ready");
      wanted = ports;
      updateProxyCheck();
    },
    portsBound(ports) {
      bound = new Set(ports);
      updateProxyCheck();
    },
  };
}
