import { setTimeout as delay } from "node:timers/promises";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import {
  discoveryServerMetrics,
  type DiscoveryServerMetrics,
} from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { fail, ok } from "@svc-gateway/common/values/result.ts";
import type { BootstrapReason, ReviewToken } from "@svc-gateway/operator/discovery/bootstrap.ts";
import {
  createDiscoveryServer,
  type DiscoveryServer,
  type DiscoveryServerOptions,
} from "@svc-gateway/operator/discovery/discovery-server.ts";
import type { LeadershipState } from "@svc-gateway/operator/discovery/leadership-state.ts";
import type { DedicatedGateway } from "@svc-gateway/operator/discovery/principals.ts";
import { holdPort, type HeldPort } from "../../../../common/test/held-ports.ts";
import { createMemoryCaStore, type MemoryCaStore } from "./memory-ca-store.ts";

/** A leadership that the test moves. */
export type TestLeadership = LeadershipState & { set(isLeading: boolean): void };

export function createTestLeadership(initial: boolean): TestLeadership {
  const listeners = new Set<() => void>();
  let isLeading = initial;
  return {
    isLeading: () => isLeading,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(next) {
      isLeading = next;
      for (const listener of [...listeners]) listener();
    },
  };
}

/** A controller of the discovery channel on loopback. */
export type TestController = {
  readonly server: DiscoveryServer;
  readonly store: MemoryCaStore;
  readonly leadership: TestLeadership;
  readonly metrics: DiscoveryServerMetrics;
  readonly gateways: DedicatedGateway[];
  readonly rejections: { readonly reason: BootstrapReason; readonly principal: string }[];
  readonly ports: { readonly streamPort: number; readonly bootstrapPort: number };
  bootstrapCount(reason: BootstrapReason | "ok"): number;
  streamCount(result: "accepted" | "rejected"): number;
};

export type TestControllerOptions = Partial<
  Pick<
    DiscoveryServerOptions,
    | "host"
    | "streamPort"
    | "bootstrapPort"
    | "caMode"
    | "clock"
    | "keepalive"
    | "log"
    | "reviewToken"
    | "streamLimits"
    | "svidLifetimeMs"
  >
> & {
  readonly store?: MemoryCaStore;
  readonly leading?: boolean;
  readonly gateways?: DedicatedGateway[];
};

/**
 * Tokens of the tests: `token:<namespace>:<service-account>`, with the name of a pod after it or without, is valid, `user:` is that of a person, `error:` breaks the
 * review, anything else is invalid.
 */
export const reviewTestToken: ReviewToken = (token) => {
  const [kind, namespace = "", serviceAccount = "", podName] = token.split(":");
  const pod = podName === undefined ? {} : { pod: { name: podName, uid: `uid-of-${podName}` } };
  if (kind === "token") return Promise.resolve(ok({ namespace, serviceAccount, ...pod }));
  if (kind === "user") {
    return Promise.resolve(fail({ reason: "invalid_principal", message: "a person", principal: namespace }));
  }
  if (kind === "error") {
    return Promise.resolve(fail({ reason: "token_review_error", message: "the API server is down" }));
  }
  return Promise.resolve(fail({ reason: "sa_token", message: "token audience is wrong" }));
};

export const sharedToken = "token:svc-system:svc-shared-proxy";

const running = new Set<DiscoveryServer>();
/** The ports of all controllers, on which tests start another controller after the first one. */
const held: HeldPort[] = [];

/** Closes what `startController` has started. */
export async function stopControllers(): Promise<void> {
  await Promise.all([...running].map((server) => stopController(server)));
  for (const one of held.splice(0)) one.release();
}

async function portOfTest(): Promise<number> {
  const one = await holdPort();
  held.push(one);
  return one.port;
}

export async function stopController(server: DiscoveryServer): Promise<void> {
  running.delete(server);
  await server.close();
}

export async function startController(options: TestControllerOptions = {}): Promise<TestController> {
  const store = options.store ?? createMemoryCaStore();
  const leadership = createTestLeadership(options.leading ?? true);
  const metrics = createMetricSet(discoveryServerMetrics);
  const gateways = options.gateways ?? [];
  const rejections: { readonly reason: BootstrapReason; readonly principal: string }[] = [];
  const server = createDiscoveryServer({
    host: options.host ?? "127.0.0.1",
    streamPort: options.streamPort ?? (await portOfTest()),
    bootstrapPort: options.bootstrapPort ?? (await portOfTest()),
    installNamespace: "svc-system",
    service: "svc-controller-discovery",
    trustDomain: "cluster.local",
    caMode: options.caMode ?? "auto",
    svidLifetimeMs: options.svidLifetimeMs ?? 24 * 60 * 60_000,
    sharedProxyServiceAccount: "svc-shared-proxy",
    dedicatedGateways: () => gateways,
    caStore: store,
    reviewToken: options.reviewToken ?? reviewTestToken,
    leadership,
    metrics,
    log: options.log ?? silentLogger,
    onBootstrapRejected: (rejection) => rejections.push(rejection),
    ...(options.clock !== undefined && { clock: options.clock }),
    ...(options.keepalive !== undefined && { keepalive: options.keepalive }),
    ...(options.streamLimits !== undefined && { streamLimits: options.streamLimits }),
  });
  const ports = await server.listen();
  if (!ports.ok) throw new Error(ports.error.message);
  running.add(server);
  return {
    server,
    store,
    leadership,
    metrics,
    gateways,
    rejections,
    ports: ports.value,
    bootstrapCount: (reason) =>
      metrics.bootstraps.with({ result: reason === "ok" ? "accepted" : "rejected", reason }).value,
    streamCount: (result) => metrics.streams.with({ result }).value,
  };
}

/** Resolves when the controller has an authority and a certificate, which it gets in the background. */
export async function ready(controller: TestController): Promise<string> {
  for (;;) {
    const bundle = controller.server.trustBundlePem();
    if (controller.server.isReady() && bundle !== undefined) return bundle;
    await delay(2);
  }
}
