import { createServer, type RequestListener, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { describePortHolder } from "../linux/port-holder.ts";
import type { ProcessSettings } from "../settings/settings.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Exposition } from "../telemetry/exposition.ts";
import { textOf } from "../values/errors.ts";
import { ok, problem, type Problem, type Result } from "../values/result.ts";
import { createAdminApp, jsonAnswer, textAnswer, type AdminAccess, type AdminRoute } from "./admin-app.ts";
import type { HealthRegistry } from "./health.ts";

export type AdminServersOptions = {
  readonly settings: Pick<ProcessSettings, "managementBindAddress" | "adminPort" | "healthPort">;
  readonly health: HealthRegistry;
  readonly metrics: () => Promise<Exposition>;
  readonly logger: Logger;
  /** Further paths of the admin port. */
  readonly extraRoutes?: readonly AdminRoute[];
  /** Decides who may read the admin port; every caller may unless given. */
  readonly access?: AdminAccess | undefined;
  /** Peers (addresses) whose connections are closed at once; none unless given. */
  readonly isRefusedPeer?: (ip: string) => boolean;
  /** The longest that one request, one answer or one idle connection may last; `defaultTimeLimitMs` unless given. */
  readonly timeLimitMs?: number;
};

/** The running servers and the ports they took. */
export type AdminServers = {
  readonly adminPort: number;
  readonly healthPort: number;
  /** Stops both servers and closes open connections. */
  close(): Promise<void>;
};

const defaultTimeLimitMs = 10_000;

/** Connections of one port at a time. */
const maxConnections = 64;

/**
 * Starts the health port (`/healthz`, `/readyz`) and the admin port (`/api/v1/health`, `/metrics`, `extraRoutes`). Without
 * `access` they ask for no credentials and therefore serve nothing secret (docs/reference/health.md). A port that cannot be bound is
 * a problem, and then neither server runs.
 */
export async function startAdminServers({
  settings,
  health,
  metrics,
  logger,
  extraRoutes = [],
  access,
  isRefusedPeer = () => false,
  timeLimitMs = defaultTimeLimitMs,
}: AdminServersOptions): Promise<Result<AdminServers, Problem>> {
  const common = { host: settings.managementBindAddress, timeLimitMs, isRefusedPeer };
  const healthApp = createAdminApp(healthRoutes(health), logger);
  const healthServer = await listen(healthApp, { ...common, port: settings.healthPort });
  if (!healthServer.ok) return problem(`--health-port: ${healthServer.error.message}`);
  const adminApp = createAdminApp([...adminRoutes(health, metrics), ...extraRoutes], logger, access);
  const adminServer = await listen(adminApp, { ...common, port: settings.adminPort });
  if (!adminServer.ok) {
    await close(healthServer.value);
    return problem(`--admin-port: ${adminServer.error.message}`);
  }
  const servers = [healthServer.value, adminServer.value];
  return ok({
    healthPort: portOf(healthServer.value),
    adminPort: portOf(adminServer.value),
    close: async () => void (await Promise.all(servers.map(close))),
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

type ListenOptions = Required<Pick<AdminServersOptions, "isRefusedPeer" | "timeLimitMs">> & {
  readonly host: string;
  readonly port: number;
};

async function listen(
  app: RequestListener,
  { host, port, timeLimitMs, isRefusedPeer }: ListenOptions,
): Promise<Result<Server, Problem>> {
  const server = createServer(
    {
      requestTimeout: timeLimitMs,
      headersTimeout: timeLimitMs,
      keepAliveTimeout: timeLimitMs,
      connectionsCheckingInterval: Math.min(timeLimitMs, 1000),
    },
    (request, response) => {
      // Covers what the server's own limits do not: a client that does not read its answer.
      const limit = setTimeout(() => response.destroy(), timeLimitMs).unref();
      response.once("close", () => clearTimeout(limit));
      app(request, response);
    },
  );
  // Before anything else: what such a peer forwards is not read.
  server.on("connection", (socket) => {
    if (isRefusedPeer(socket.remoteAddress ?? "")) socket.destroy();
  });
  boundConnections(server);
  server.timeout = timeLimitMs;
  try {
    server.listen({ port, host });
    await once(server, "listening");
    return ok(server);
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const why = isTaken ? await describePortHolder(port) : textOf(error);
    return problem(`cannot listen on ${host} port ${port}: ${why}`);
  }
}

/**
 * Admits every connection and closes the one that has been open longest when there are too many. A client that holds
 * connections open to lock out others, such as the kubelet, whose failing probes would end the process, loses only its
 * own.
 */
function boundConnections(server: Server): void {
  /** In the order in which they came. */
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    if (open.size <= maxConnections) return;
    const [oldest] = open;
    if (oldest !== undefined) open.delete(oldest);
    oldest?.destroy();
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
