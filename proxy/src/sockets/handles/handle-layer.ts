import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { nodeSockets, type SocketLayer } from "../socket-layer.ts";
import { HandleTransport } from "./handle-transport.ts";
import { findInternals, type HandleInternals, handleOf } from "./internals.ts";
import { proveHandles } from "./self-test.ts";

/** What `--socket-layer` selects. */
type SocketLayerName = "node" | "handles";

/**
 * The socket layer of a worker. Where the runtime's handles do not do what is needed of them, that is logged, and its public
 * sockets are used.
 */
export async function openSocketLayer(
  name: SocketLayerName,
  log: Pick<Logger, "warn">,
  find = findInternals,
): Promise<SocketLayer> {
  if (name === "node") return nodeSockets;
  const handles = await openHandleSockets(find);
  if (handles.ok) return handles.value;
  log.warn(
    { missing: handles.error, node: process.version },
    "the TCP handles of this Node.js cannot be used, expected those of Node.js 24; its public sockets are used instead",
  );
  return nodeSockets;
}

/** Plain connections on the TCP handles under their sockets; the error says what of them is not as expected. */
export async function openHandleSockets(
  find: () => Result<HandleInternals, string> = findInternals,
  limitMs?: number,
): Promise<Result<SocketLayer, string>> {
  const found = find();
  if (!found.ok) return found;
  const internals = found.value;
  const proved = await proveHandles(internals, limitMs);
  if (!proved.ok) return proved;
  const { prototype } = proved.value;
  const isProved = (socket: Socket): boolean => {
    const handle = socket instanceof TLSSocket ? undefined : handleOf(socket);
    return handle !== undefined && Object.getPrototypeOf(handle) === prototype;
  };
  return ok({
    take: (socket) => (isProved(socket) ? new HandleTransport(socket, internals) : nodeSockets.take(socket)),
    dial: (memory, receiver, isTls) =>
      isTls
        ? nodeSockets.dial(memory, receiver, isTls)
        : {
            opened(socket) {
              const transport = new HandleTransport(socket, internals, memory);
              transport.start(receiver);
              return transport;
            },
          },
  });
}
