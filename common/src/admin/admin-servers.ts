import type { ProcessSettings } from "../settings/settings.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Exposition } from "../telemetry/exposition.ts";
import { ok, problem, type Problem, type Result } from "../values/result.ts";
import { jsonAnswer, textAnswer } from "./admin-answer.ts";
import { createAdminApp, type AdminAccess, type AdminRoute } from "./admin-app.ts";
import { startBoundedServer } from "./bounded-server.ts";
import type { LogLevelControl } from "../telemetry/log-level-control.ts";
import type { HealthRegistry } from "./health.ts";
import { logLevelRoute } from "./log-level-route.ts";

export type AdminServersOptions = {
  readonly settings: Pick<ProcessSettings, "managementBindAddress" | "adminPort" | "healthPort">;
  readonly health: HealthRegistry;
  readonly metrics: () => Promise<Exposition>;
  readonly logger: Logger;
  /** Lets callers within the pod change the log level; closed with the servers. */
  readonly logLevel?: LogLevelControl;
  /** Additional paths of the admin port. */
  readonly extraRoutes?: readonly AdminRoute[];
  /** Decides which callers may read the admin port; by default every caller may. */
  readonly access?: AdminAccess | undefined;
  /** Selects peers (by address) whose connections are closed immediately; none by default. */
  readonly isRefusedPeer?: (ip: string) => boolean;
  /** The maximum duration of one request, one answer or one idle connection; `defaultTimeLimitMs` by default. */
  readonly timeLimitMs?: number;
};

/** The running servers and their ports. */
export type AdminServers = {
  readonly adminPort: number;
  readonly healthPort: number;
  /** Stops both servers and closes open connections. */
  close(): Promise<void>;
};

const defaultTimeLimitMs = 10_000;

/**
 * Starts the health port (`/healthz`, `/readyz`) and the admin port (`/api/v1/health`, `/metrics`, `/api/v1/log-level`,
 * `extraRoutes`). Without `access`, they require no credentials, and therefore serve nothing secret
 * (docs/reference/health.md). If a port cannot be bound, a problem is returned and neither server runs.
 */
export async function startAdminServers({
  settings,
  health,
  metrics,
  logger,
  logLevel,
  extraRoutes = [],
  access,
  isRefusedPeer = () => false,
  timeLimitMs = defaultTimeLimitMs,
}: AdminServersOptions): Promise<Result<AdminServers, Problem>> {
  const common = { host: settings.managementBindAddress, timeLimitMs, isRefusedPeer };
  const healthApp = createAdminApp(healthRoutes(health), logger);
  const healthServer = await startBoundedServer(healthApp, { ...common, port: settings.healthPort });
  if (!healthServer.ok) return problem(`--health-port: ${healthServer.error.message}`);
  const ofLogLevel = logLevel === undefined ? [] : [logLevelRoute(logLevel)];
  const routes = [...adminRoutes(health, metrics), ...ofLogLevel, ...extraRoutes];
  const adminApp = createAdminApp(routes, logger, access);
  const adminServer = await startBoundedServer(adminApp, { ...common, port: settings.adminPort });
  if (!adminServer.ok) {
    await healthServer.value.close();
    return problem(`--admin-port: ${adminServer.error.message}`);
  }
  const servers = [healthServer.value, adminServer.value];
  return ok({
    healthPort: healthServer.value.port,
    adminPort: adminServer.value.port,
    async close() {
      logLevel?.close();
      await Promise.all(servers.map((server) => server.close()));
    },
  });
}

function healthRoutes(health: HealthRegistry): readonly AdminRoute[] {
  return [
    { path: "/healthz", answer: () => textAnswer("ok") },
    {
      path: "/readyz",
      answer() {
        const readiness = health.readiness();
        return readiness.isReady ? textAnswer("ok") : textAnswer(`${readiness.waitingFor.join("\n")}\n`, 503);
      },
    },
  ];
}

function adminRoutes(health: HealthRegistry, metrics: () => Promise<Exposition>): readonly AdminRoute[] {
  return [
    { path: "/api/v1/health", answer: () => jsonAnswer(health.document()) },
    { path: "/metrics", answer: metrics },
  ];
}
