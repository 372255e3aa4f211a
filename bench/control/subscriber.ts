/** A proxy that only records the times at which updates arrive, which is when a delta is published. */
import { silentLogger } from "../../common/src/telemetry/logger.ts";
import { discoveryClientMetrics } from "../../common/src/telemetry/metric-declarations.ts";
import { createMetricSet } from "../../common/src/telemetry/metric-set.ts";
import { ok } from "../../common/src/values/result.ts";
import { controllerBehind } from "../../proxy/src/source/controller-name.ts";
import { createDiscoveryClient } from "../../proxy/src/source/discovery-client.ts";
import { installNamespace } from "./objects.ts";

export type Subscriber = {
  /** Resolves with the time (`performance.now()`) of the first update after this call that contains one of the keys. */
  nextUpdate(key: (key: string) => boolean): Promise<number>;
  /** Resolves with the next full update, which follows a new subscription to a controller. */
  nextFull(): Promise<void>;
  stop(): Promise<void>;
};

const waitLimitMs = 20_000;

export function startSubscriber(options: {
  readonly tokenPath: string;
  readonly trustPath: string;
}): Subscriber {
  const waiting = new Set<{
    readonly matches: (key: string) => boolean;
    readonly resolve: (atMs: number) => void;
  }>();
  let onFull = (): void => {};
  const endpoint = { host: "127.0.0.1", port: 50_051 };
  const client = createDiscoveryClient({
    nodeId: "subscriber-0",
    scope: { kind: "shared" },
    release: "0",
    endpoint,
    bootstrapEndpoint: { ...endpoint, port: 50_052 },
    tokenPath: options.tokenPath,
    trustBundlePath: options.trustPath,
    controller: controllerBehind(endpoint, "cluster.local", installNamespace),
    async apply(update) {
      const { resources = [] } = (await update.whole) ?? {};
      const atMs = performance.now();
      if (update.full) onFull();
      for (const one of waiting) {
        if (!resources.some(({ key }) => one.matches(key))) continue;
        waiting.delete(one);
        one.resolve(atMs);
      }
      return ok(undefined);
    },
    onState: () => undefined,
    checks: () => [],
    metrics: createMetricSet(discoveryClientMetrics),
    log: silentLogger,
  });
  client.start();
  return {
    nextFull: () => new Promise((resolve) => (onFull = resolve)),
    nextUpdate: (matches) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error("no update arrived")), waitLimitMs);
        waiting.add({
          matches,
          resolve(atMs) {
            clearTimeout(limit);
            resolve(atMs);
          },
        });
      }),
    stop: () => client.stop(),
  };
}
