/** `serve controller` as a process: log, admin pages, the controller, and an orderly end (docs/controller.md). */
import { startAdminServers } from "@svc-gateway/common/admin/admin-servers.ts";
import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import type { ControllerSettings } from "@svc-gateway/common/settings/settings.ts";
import { exposeMetrics } from "@svc-gateway/common/telemetry/exposition.ts";
import { createLogLevelControl } from "@svc-gateway/common/telemetry/log-level-control.ts";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import { createLogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { createLogger } from "@svc-gateway/common/telemetry/logger.ts";
import {
  controllerMetrics,
  discoveryServerMetrics,
} from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { measureProcess } from "@svc-gateway/common/telemetry/process-metrics.ts";
import { aborted } from "@svc-gateway/common/time/aborted.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { startController } from "@svc-gateway/operator/control/controller.ts";
import type { Io } from "../command.ts";
import { startConsole } from "../console/console.ts";
import { controllerSource } from "../console/sources.ts";
import { waitForStop } from "../stop.ts";
import { version } from "../version.ts";

/** Runs until a stop signal. Fails with one line when a port is taken or no API server is configured. */
export async function runController(
  settings: ControllerSettings,
  warnings: readonly string[],
  io: Io,
): Promise<Result<void, string>> {
  const sink = createLogSink({ fd: 1 });
  const levels = createLogLevels(settings.log);
  const log = createLogger("svc_controller", { levels, format: settings.logFormat, sink });
  for (const warning of warnings) log.warn({ event: "setting_ignored", detail: warning }, "setting ignored");
  const health = createHealthRegistry(version);
  const metrics = {
    controller: createMetricSet(controllerMetrics),
    discovery: createMetricSet(discoveryServerMetrics),
  };
  const measured = measureProcess(version);
  const ending = new AbortController();
  const controller = await startController({ settings, logger: log, metrics, health, signal: ending.signal });
  if (!controller.ok) {
    await sink.close();
    return fail(controller.error.message);
  }
  const admin = await startAdminServers({
    settings,
    health,
    metrics() {
      controller.value.refreshMetrics();
      measured.refresh();
      return exposeMetrics(metrics.controller, metrics.discovery, ...measured.sets);
    },
    logger: log,
    logLevel: createLogLevelControl({ configured: settings.log, apply: levels.change, log }),
    extraRoutes: controller.value.adminRoutes,
    access: controller.value.adminAccess,
    isRefusedPeer: controller.value.isOwnPeer,
  });
  if (!admin.ok) {
    ending.abort();
    await controller.value.done;
    await sink.close();
    return fail(admin.error.message);
  }
  const shown = await startConsole({
    settings,
    source: controllerSource(settings, controller.value.inspect, health),
    access: controller.value.adminAccess,
    err: io.err,
    log: log.child("svc_console"),
    isRefusedPeer: controller.value.isOwnPeer,
  });
  if (!shown.ok) {
    ending.abort();
    await controller.value.done;
    await admin.value.close();
    await sink.close();
    return fail(shown.error);
  }
  // The handler is registered first: a program that has read "started" may send a signal immediately.
  const stopAsked = waitForStop(io);
  log.info({ event: "started", version, pod: settings.podName }, "started");
  const ended = controller.value.done.then(() => undefined);
  const stop = await Promise.race([stopAsked, ended]);
  log.info({ event: "stopping", signal: stop?.signal ?? "none" }, "stopping");
  ending.abort();
  const hurried = stop === undefined ? [] : [aborted(stop.hurry)];
  await Promise.race([ended, ...hurried]);
  await Promise.all([admin.value.close(), shown.value?.close()]);
  await sink.close();
  return stop === undefined ? fail("the controller stopped unexpectedly, see its log") : ok(undefined);
}
