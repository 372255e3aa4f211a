import { createProxyMetrics, type ProxyMetrics } from "../../src/telemetry/metrics.ts";
import { BreakerTable, breakerTableBytes } from "../../src/upstream/breaker/breaker-table.ts";
import type { BreakerEnvironment } from "../../src/upstream/breaker/upstream-breakers.ts";
import type { PickRequest, UpstreamEndpoint } from "../../src/upstream/upstream.ts";
import { Fields } from "../../src/message/fields.ts";

/** Returns the input of a balancer. Without `received`, the client sent the fields that are sent to the backend. */
export const pickRequest = (given: Partial<PickRequest> = {}): PickRequest => ({
  clientIp: "192.0.2.1",
  host: "a.example",
  path: "/",
  query: "",
  headers: Fields.of([]),
  received: given.headers ?? Fields.of([]),
  routeId: "ingress/ns/web:0.0",
  secure: false,
  ...given,
});

/** Returns endpoints `10.x.y.z:80` with consecutive addresses. */
export const endpointList = (count: number, first = 0): readonly UpstreamEndpoint[] =>
  Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const host = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
    return { host, port: 80, address: `${host}:80` };
  });

export type TestBreakers = {
  readonly environment: BreakerEnvironment;
  readonly metrics: ProxyMetrics;
  /** Moves the clock. */
  advance(ms: number): void;
};

/**
 * Returns an environment of circuit breakers with a manual clock. Several can share `memory`, like the workers of a
 * pod.
 */
export function breakerEnvironment(
  memory: ArrayBuffer | SharedArrayBuffer = new ArrayBuffer(breakerTableBytes),
): TestBreakers {
  const metrics = createProxyMetrics();
  let nowMs = 1_000_000_000;
  return {
    metrics,
    environment: { table: new BreakerTable(memory), nowMs: () => nowMs, metrics },
    advance(ms) {
      nowMs += ms;
    },
  };
}
