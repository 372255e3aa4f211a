/**
 * Serves a folder of manifests in one process: source, coalescer, translation, snapshot difference, proxy
 * (docs/standalone.md).
 */
import { setTimeout as delay } from "node:timers/promises";
import { startAdminServers } from "@svc-gateway/common/admin/admin-servers.ts";
import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import { hostPortsOf, localPortsOf } from "@svc-gateway/common/admin/local-ports.ts";
import { createOwnPortCheck } from "@svc-gateway/common/ir/own-port-check.ts";
import type { StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { createLogLevelControl } from "@svc-gateway/common/telemetry/log-level-control.ts";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { createLogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { createLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { standaloneMetrics } from "@svc-gateway/common/telemetry/standalone-metrics.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { measureProcess } from "@svc-gateway/common/telemetry/process-metrics.ts";
import { aborted } from "@svc-gateway/common/time/aborted.ts";
import { monotonicClock } from "@svc-gateway/common/time/clock.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { createCoalescer } from "@svc-gateway/operator/build/coalescer.ts";
import { fetchJson } from "@svc-gateway/operator/jwks/fetch-json.ts";
import { createKeySetKeeper } from "@svc-gateway/operator/jwks/key-set-keeper.ts";
import { countKeySets } from "@svc-gateway/operator/jwks/key-set-metrics.ts";
import { findFolderProblem } from "@svc-gateway/operator/sources/files/listing.ts";
import { startFileSource } from "@svc-gateway/operator/sources/files/file-source.ts";
import type { FolderState } from "@svc-gateway/operator/sources/files/folder-state.ts";
import { formatManifestProblem } from "@svc-gateway/operator/sources/files/place.ts";
import type { ShutdownMode } from "@svc-gateway/proxy/proxy.ts";
import { startSupervisor } from "@svc-gateway/proxy/worker/supervisor.ts";
import type { Io } from "../command.ts";
import type { ConsoleBuild } from "../console/console-source.ts";
import { startConsole } from "../console/console.ts";
import { standaloneSource } from "../console/sources.ts";
import { waitForStop } from "../stop.ts";
import { version } from "../version.ts";
import { createBuild } from "./build.ts";
import { createStandaloneHealth } from "./standalone-health.ts";

/** The maximum duration of the shutdown after the second signal. */
const maxHurryMs = 500;

/** The interval of builds without changes, because certificates expire without a change of a manifest. */
const recheckIntervalMs = 60 * 60_000;

/**
 * Serves until a stop signal, then shuts down in order. `onReady` is called once all ports are bound. If it cannot
 * start, because the folder cannot be read or a port of the process or of a listener is taken, it fails with one line
 * for each reason.
 */
export async function serveFolder(
  settings: StandaloneSettings,
  warnings: readonly string[],
  io: Io,
  onReady?: () => void,
): Promise<Result<void, readonly string[]>> {
  // A wrong path is reported before ports are bound: they can be taken by a gateway that serves the right path.
  const folderProblem = await findFolderProblem(settings.manifests);
  if (folderProblem !== undefined) return fail([formatManifestProblem(folderProblem)]);
  const sink = createLogSink({ fd: 1 });
  const levels = createLogLevels(settings.log);
  const logging = { levels, format: settings.logFormat, sink };
  const log = createLogger("svc_controller", logging);
  const proxyLog = log.child("svc_proxy");
  for (const warning of warnings) log.warn({ event: "setting_ignored", detail: warning }, "setting ignored");

  const registry = createHealthRegistry(version);
  const health = createStandaloneHealth(registry, settings, onReady);
  const measured = measureProcess(version);
  const metrics = createMetricSet(standaloneMetrics);
  const started = await startSupervisor({
    settings,
    log: proxyLog,
    sink,
    otherMetrics: [...measured.sets, metrics],
    onBoundPorts: health.portsBound,
  });
  if (!started.ok) return fail([started.error.message]);
  const proxy = started.value;
  const admin = await startAdminServers({
    settings,
    health: registry,
    metrics() {
      measured.refresh();
      return proxy.metrics();
    },
    logger: log,
    logLevel: createLogLevelControl({
      configured: settings.log,
      apply: (directives) => {
        levels.change(directives);
        proxy.setLogLevel(directives);
      },
      log,
    }),
  });
  if (!admin.ok) {
    await proxy.shutdown(AbortSignal.abort());
    return fail([admin.error.message]);
  }

  const { adminPort, healthPort } = admin.value;
  let shown: { readonly build: ConsoleBuild; readonly snapshot: string | undefined } | undefined;
  const consoleServer = await startConsole({
    settings,
    source: standaloneSource({
      settings,
      health: registry,
      workers: proxy.workers,
      build: () => shown?.build,
      snapshot: () => shown?.snapshot,
      metrics: async () => (await proxy.metrics()).body,
    }),
    err: io.err,
    log: log.child("svc_console"),
  });
  if (!consoleServer.ok) {
    await proxy.shutdown(AbortSignal.abort());
    await admin.value.close();
    return fail([consoleServer.error]);
  }
  const adminUiPort = consoleServer.value?.port ?? 0;
  const bound = { ...settings, adminPort, healthPort, adminUiPort };
  const hostPorts = createOwnPortCheck({ addresses: hostPortsOf(bound) }, localPortsOf(bound));
  let state: FolderState | undefined;
  const keySets = createKeySetKeeper({
    fetch: (url, signal) =>
      fetchJson(url, { allowCidrs: settings.jwksAllowCidrs, isRefused: hostPorts, signal }),
    onChange: () => coalescer.markDirty(),
    ...countKeySets(metrics),
    clock: monotonicClock,
    log,
  });
  const unusable = Promise.withResolvers<readonly string[]>();
  const build = createBuild({
    settings: bound,
    proxy,
    health,
    keySets,
    onServed: (built, snapshot) => (shown = { build: built, snapshot: snapshot ?? shown?.snapshot }),
    onUnusablePorts: unusable.resolve,
    metrics,
    log,
  });
  const coalescer = createCoalescer({
    build: async () => {
      if (state !== undefined) await build(state);
    },
    minIntervalMs: settings.reconcileMinIntervalMs,
    onBug: (error) => log.error({ event: "build_failed", err: error }, "build failed"),
  });
  const ending = new AbortController();
  const source = await startFileSource({
    folder: settings.manifests,
    signal: ending.signal,
    onState: (next) => {
      state = next;
      coalescer.markDirty();
    },
    log,
  });
  const end = async (hurry: AbortSignal, how?: ShutdownMode): Promise<void> => {
    keySets.stop();
    await coalescer.stop();
    await proxy.shutdown(hurry, how);
    await Promise.all([admin.value.close(), consoleServer.value?.close()]);
  };
  if (!source.ok) {
    await end(AbortSignal.abort());
    await sink.close();
    return fail([formatManifestProblem(source.error)]);
  }
  const recheck = setInterval(coalescer.markDirty, recheckIntervalMs);
  // The handler is registered first: a program that has read "started" may send a signal immediately.
  const stopAsked = waitForStop(io);
  log.info(
    {
      event: "started",
      version,
      manifests: settings.manifests,
      admin_port: adminPort,
      health_port: healthPort,
      workers: proxy.workers,
    },
    "started",
  );

  const stop = await Promise.race([stopAsked, unusable.promise]);
  if (!("signal" in stop)) {
    clearInterval(recheck);
    ending.abort();
    await end(AbortSignal.abort(), "at-once");
    await sink.close();
    return fail(stop);
  }
  // After Ctrl-C there is no load balancer that must notice the shutdown first.
  const how = stop.signal === "SIGINT" ? "at-once" : "announced";
  log.info({ event: "stopping", signal: stop.signal, how }, "stopping");
  registry.beginShutdown();
  clearInterval(recheck);
  ending.abort();
  const ended = source.value.closed.then(() => end(stop.hurry, how));
  // A running build or a hanging worker must not delay the end after the second signal.
  await Promise.race([ended, aborted(stop.hurry).then(() => delay(maxHurryMs))]);
  log.info({ event: "stopped" }, "stopped");
  await sink.close();
  return ok(undefined);
}
