import { createServer, type RequestListener, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { describePortHolder } from "../linux/port-holder.ts";
import { textOf } from "../values/errors.ts";
import { ok, problem, type Problem, type Result } from "../values/result.ts";

export type BoundedServerOptions = {
  readonly host: string;
  /** The port to bind; 0 selects a free one. */
  readonly port: number;
  /** The maximum duration of one request, one answer or one idle connection. */
  readonly timeLimitMs: number;
  /** Selects peers (by address) whose connections are closed immediately. */
  readonly isRefusedPeer: (ip: string) => boolean;
};

export type BoundedServer = {
  readonly port: number;
  /** Stops the server and closes open connections. */
  close(): Promise<void>;
};

/** The maximum number of simultaneous connections of one port. */
const maxConnections = 64;

/**
 * Starts a server for a few clients, none of which can block it. If the port cannot be bound, a problem is returned.
 */
export async function startBoundedServer(
  app: RequestListener,
  { host, port, timeLimitMs, isRefusedPeer }: BoundedServerOptions,
): Promise<Result<BoundedServer, Problem>> {
  const server = createServer(
    {
      requestTimeout: timeLimitMs,
      headersTimeout: timeLimitMs,
      keepAliveTimeout: timeLimitMs,
      connectionsCheckingInterval: Math.min(timeLimitMs, 1000),
    },
    (request, response) => {
      // Covers a case that the server's own limits do not: a client that does not read its answer.
      const limit = setTimeout(() => response.destroy(), timeLimitMs).unref();
      response.once("close", () => clearTimeout(limit));
      app(request, response);
    },
  );
  // Runs before anything else, so that data forwarded by such a peer is not read.
  server.on("connection", (socket) => {
    if (isRefusedPeer(socket.remoteAddress ?? "")) socket.destroy();
  });
  boundConnections(server);
  server.timeout = timeLimitMs;
  try {
    server.listen({ port, host });
    await once(server, "listening");
    return ok({ port: (server.address() as AddressInfo).port, close: () => close(server) });
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const why = isTaken ? await describePortHolder(port) : textOf(error);
    return problem(`cannot listen on ${host} port ${port}: ${why}`);
  }
}

/**
 * Admits every connection, and closes the oldest one if there are too many. A client can hold connections open to lock
 * out others, such as the kubelet, whose failing probes would end the process; that client then loses only its own.
 */
function boundConnections(server: Server): void {
  /** The open connections, oldest first. */
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

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
