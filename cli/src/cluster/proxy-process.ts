/** `serve proxy` as a process: the data plane, configured over the discovery channel (docs/discovery.md). */
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { ownPodOnly } from "@svc-gateway/common/admin/own-pod-only.ts";
import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ProxySettings } from "@svc-gateway/common/settings/settings.ts";
import { createLogLevelControl } from "@svc-gateway/common/telemetry/log-level-control.ts";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { createLogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { createLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { discoveryClientMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { measureProcess } from "@svc-gateway/common/telemetry/process-metrics.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { controllerBehind } from "@svc-gateway/proxy/source/controller-name.ts";
import { startSupervisor } from "@svc-gateway/proxy/worker/supervisor.ts";
import type { Io } from "../command.ts";
import { waitForStop } from "../stop.ts";
import { version } from "../version.ts";

/** How long the admin servers wait for the first snapshot, in milliseconds: loading their code would delay it. */
const snapshotFirstMs = 500;

/** Runs until a stop signal, after which requests in progress may finish. Fails with one line when a port is taken. */
export async function runProxy(
  settings: ProxySettings,
  warnings: readonly string[],
  io: Io,
): Promise<Result<void, string>> {
  const sink = createLogSink({ fd: 1 });
  const levels = createLogLevels(settings.log);
  const logging = { levels, format: settings.logFormat, sink };
  const log = createLogger("svc_proxy", logging);
  for (const warning of warnings) log.warn({ event: "setting_ignored", detail: warning }, "setting ignored");
  const registry = createHealthRegistry(version);
  const health = registry.register("proxy", ["routing_table_loaded"]);
  const measured = measureProcess(version);
  const discoveryMetrics = createMetricSet(discoveryClientMetrics);
  const starting = startSupervisor({
    settings,
    log,
    sink,
    otherMetrics: [discoveryMetrics, ...measured.sets],
    onBoundPorts: (ports) => discovery.setBoundPorts(ports),
  });
  // The worker threads load their modules while this thread loads the rest of its own and requests the first snapshot.
  await nextTurn();
  const { createDiscoveryClient } = await import("@svc-gateway/proxy/source/discovery-client.ts");
  let isOwnPeer = (_ip: string): boolean => false;
  /**
   * Enables the check of peers. It is loaded late, because it needs the schemas of resources; workers refuse backends
   * that are ports of the gateway from the first request on.
   */
  const learnOwnPeers = async (resources: readonly Resource[]): Promise<void> => {
    const { createOwnPeerCheck, ownPortsIn } = await import("@svc-gateway/common/ir/own-port-check.ts");
    const ownPorts = ownPortsIn(resources);
    if (ownPorts !== undefined) isOwnPeer = createOwnPeerCheck(ownPorts);
  };
  const served = Promise.withResolvers<void>();
  const discovery = createDiscoveryClient({
    nodeId: settings.podName,
    scope: settings.scope,
    release: version,
    endpoint: settings.discoveryEndpoint,
    bootstrapEndpoint: settings.discoveryBootstrapEndpoint,
    tokenPath: settings.discoverySaTokenPath,
    trustBundlePath: settings.discoveryCaBundlePath,
    controller: controllerBehind(
      settings.discoveryEndpoint,
      settings.discoveryTrustDomain,
      settings.podNamespace,
    ),
    // The sockets of a snapshot are bound before it is acknowledged, so that a ready proxy serves.
    apply: async (incoming) => {
      const started = await starting;
      if (!started.ok) return started;
      const applied = await started.value.applyIncoming(incoming);
      if (applied.ok) void learnOwnPeers(incoming.arrived?.resources ?? []).then(served.resolve);
      return applied;
    },
    onState: (state) => health.set("routing_table_loaded", state),
    checks: () => [
      {
        subsystem: "proxy",
        name: "routing_table_loaded",
        state: health.get("routing_table_loaded"),
        reason: "",
      },
    ],
    metrics: discoveryMetrics,
    log: log.child("svc_discovery"),
  });
  discovery.start();
  const proxy = await starting;
  if (!proxy.ok) {
    await discovery.stop();
    await sink.close();
    return fail(proxy.error.message);
  }
  await Promise.race([served.promise, delay(snapshotFirstMs)]);
  const { startAdminServers } = await import("@svc-gateway/common/admin/admin-servers.ts");
  const admin = await startAdminServers({
    settings,
    health: registry,
    metrics() {
      measured.refresh();
      return proxy.value.metrics();
    },
    logger: log,
    logLevel: createLogLevelControl({
      configured: settings.log,
      apply: (directives) => {
        levels.change(directives);
        proxy.value.setLogLevel(directives);
      },
      log,
    }),
    access: settings.adminAuth ? ownPodOnly : undefined,
    // Pods of the gateway do not use these ports: a request from one of them is a forwarded request of a client.
    isRefusedPeer: (ip) => isOwnPeer(ip),
  });
  if (!admin.ok) {
    await discovery.stop();
    await proxy.value.shutdown(AbortSignal.abort());
    await sink.close();
    return fail(admin.error.message);
  }
  // The handler is registered first: a program that has read "started" may send a signal immediately.
  const stopAsked = waitForStop(io);
  log.info({ event: "started", version, pod: settings.podName, workers: proxy.value.workers }, "started");

  const stop = await stopAsked;
  log.info({ event: "stopping", signal: stop.signal }, "stopping");
  registry.beginShutdown();
  await proxy.value.shutdown(stop.hurry);
  await discovery.stop();
  await admin.value.close();
  log.info({ event: "stopped" }, "stopped");
  await sink.close();
  return ok(undefined);
}
