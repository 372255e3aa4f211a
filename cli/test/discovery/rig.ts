import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HealthState } from "@svc-gateway/common/admin/health.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { createSnapshot, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { discoveryClientMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { controllerBehind } from "@svc-gateway/proxy/source/controller-name.ts";
import {
  createDiscoveryClient,
  type DiscoveryClient,
  type DiscoveryClientOptions,
} from "@svc-gateway/proxy/source/discovery-client.ts";
import type { DiscoveryClientMetrics } from "@svc-gateway/proxy/source/discovery-client-metrics.ts";
import { sharedToken } from "../../../operator/test/discovery/support/controller.ts";

/** The state that a proxy serves: a map that follows updates and refuses inconsistent ones, as a real proxy does. */
export type ServedState = {
  snapshot(): Snapshot;
  readonly updates: SnapshotUpdate[];
  /** Refuses the next `times` updates with this reason; if absent, all of them. */
  refuse(reason: string, times?: number): void;
  /** While set, updates wait. */
  block(): () => void;
  apply(update: SnapshotUpdate): Promise<Result<void>>;
};

export function createServedState(): ServedState {
  const updates: SnapshotUpdate[] = [];
  let snapshot = createSnapshot([]);
  let refusal = { reason: "", left: 0 };
  let gate: Promise<void> = Promise.resolve();
  return {
    snapshot: () => snapshot,
    updates,
    refuse: (reason, times = Infinity) => (refusal = { reason, left: times }),
    block() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    async apply(update) {
      await gate;
      if (refusal.left > 0) {
        refusal.left -= 1;
        return problem(refusal.reason);
      }
      const present = update.full ? [] : snapshot.resources.values;
      const resources = new Map(present.map((resource) => [resource.key, resource]));
      for (const key of update.removed) resources.delete(key);
      for (const resource of update.resources) {
        const decoded = decodeResource(resource);
        if (!decoded.ok) return decoded;
        resources.set(resource.key, resource);
      }
      const next = createSnapshot(resources.values());
      if (next.version !== update.version) return problem(`the update gives version ${next.version}`);
      snapshot = next;
      updates.push(update);
      return ok(undefined);
    },
  };
}

/** A proxy of the discovery channel with everything that it keeps on disk. */
export type TestProxy = {
  readonly client: DiscoveryClient;
  readonly state: ServedState;
  readonly metrics: DiscoveryClientMetrics;
  /** Every state that it went through, in order. */
  readonly history: HealthState[];
  setToken(token: string): Promise<void>;
  setBundle(pem: string): Promise<void>;
  /** Sets the addresses to which the name of the controllers resolves from now on. */
  setAddresses(addresses: readonly string[]): void;
  stop(): Promise<void>;
};

export type TestProxyOptions = Partial<
  Pick<
    DiscoveryClientOptions,
    "nodeId" | "scope" | "checks" | "clock" | "keepalive" | "liveness" | "log" | "random" | "controller"
  >
> & {
  readonly ports: { readonly streamPort: number; readonly bootstrapPort: number };
  readonly bundlePem: string;
  readonly token?: string;
  readonly addresses?: readonly string[];
};

const host = "svc-controller-discovery.svc-system.svc";
const running = new Set<TestProxy>();

/** Stops what `startProxy` has started. */
export async function stopProxies(): Promise<void> {
  await Promise.all([...running].map((proxy) => proxy.stop()));
}

export async function startProxy(options: TestProxyOptions): Promise<TestProxy> {
  const folder = await mkdtemp(join(tmpdir(), "svc-discovery-"));
  const tokenPath = join(folder, "token");
  const trustBundlePath = join(folder, "ca.crt");
  await Promise.all([
    writeFile(tokenPath, options.token ?? sharedToken),
    writeFile(trustBundlePath, options.bundlePem),
  ]);
  const state = createServedState();
  const metrics = createMetricSet(discoveryClientMetrics);
  const history: HealthState[] = [];
  let addresses = options.addresses ?? ["127.0.0.1"];
  const endpoint = { host, port: options.ports.streamPort };
  const client = createDiscoveryClient({
    nodeId: options.nodeId ?? "proxy-1",
    scope: options.scope ?? { kind: "shared" },
    release: "1.2.3",
    endpoint,
    bootstrapEndpoint: { host, port: options.ports.bootstrapPort },
    tokenPath,
    trustBundlePath,
    controller: options.controller ?? controllerBehind(endpoint, "cluster.local", "elsewhere"),
    async apply(incoming) {
      const update = await incoming.whole;
      return update === undefined ? problem("the update was abandoned") : state.apply(update);
    },
    onState: (next) => history.push(next),
    checks:
      options.checks ??
      (() => [{ subsystem: "proxy", name: "routing_table_loaded", state: client.state(), reason: "" }]),
    metrics,
    log: options.log ?? silentLogger,
    lookup: () => Promise.resolve(addresses),
    ...(options.clock !== undefined && { clock: options.clock }),
    ...(options.keepalive !== undefined && { keepalive: options.keepalive }),
    ...(options.liveness !== undefined && { liveness: options.liveness }),
    ...(options.random !== undefined && { random: options.random }),
  });
  const proxy: TestProxy = {
    client,
    state,
    metrics,
    history,
    setToken: (token) => writeFile(tokenPath, token),
    setBundle: (pem) => writeFile(trustBundlePath, pem),
    setAddresses: (next) => (addresses = next),
    async stop() {
      running.delete(proxy);
      await client.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  running.add(proxy);
  client.start();
  return proxy;
}
