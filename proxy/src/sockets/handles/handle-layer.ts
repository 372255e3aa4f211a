import type { Socket } from "node:net";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { Acceptor } from "../accepting.ts";
import type { ReadBuffer } from "../read-buffer.ts";
import { nodeSockets, type SocketLayer } from "../socket-layer.ts";
import { proveAccepting } from "./accept-self-test.ts";
import { HandleTransport } from "./handle-transport.ts";
import { findInternals, type HandleInternals, handleOf, isTlsHandle } from "./internals.ts";
import { proveHandles } from "./self-test.ts";
import { SocketOwner } from "./socket-owner.ts";
import { proveTlsHandles } from "./tls-self-test.ts";

/** A value of `--socket-layer`. */
type SocketLayerName = "node" | "handles";

/**
 * The handles of a runtime as a layer. `tlsLack` and `acceptLack` name the part that is not as expected of TLS handles
 * and of accepted handles without sockets. Public sockets are then used instead of them.
 */
export type HandleSockets = {
  readonly layer: SocketLayer;
  readonly tlsLack: string | undefined;
  readonly acceptLack: string | undefined;
};

/** The self-tests of parts beyond the TCP handles of sockets. */
export type Proofs = { readonly tls: typeof proveTlsHandles; readonly accepting: typeof proveAccepting };
const allProofs: Proofs = { tls: proveTlsHandles, accepting: proveAccepting };

/**
 * Returns the socket layer of a worker. If the handles of the runtime do not behave as required, that is logged, and
 * its public sockets are used.
 */
export async function openSocketLayer(
  name: SocketLayerName,
  log: Pick<Logger, "warn">,
  find = findInternals,
  proofs: Partial<Proofs> = {},
): Promise<SocketLayer> {
  if (name === "node") return nodeSockets;
  const handles = await openHandleSockets(find, undefined, proofs);
  const lack = (missing: string, message: string): void =>
    log.warn({ missing, node: process.version }, message);
  if (!handles.ok) {
    lack(
      handles.error,
      "the TCP handles of this Node.js cannot be used, expected those of Node.js 24; its public sockets are used instead",
    );
    return nodeSockets;
  }
  const { layer, tlsLack, acceptLack } = handles.value;
  if (tlsLack !== undefined) {
    lack(
      tlsLack,
      "the TLS handles of this Node.js cannot be used, expected those of Node.js 24; its public sockets are used for TLS instead",
    );
  }
  if (acceptLack !== undefined) {
    lack(
      acceptLack,
      "accepted TCP handles of this Node.js cannot be used without sockets, expected those of Node.js 24; sockets are made for them instead",
    );
  }
  return layer;
}

/** Returns the layer on the handles of the runtime. The error names the part of TCP handles that is not as expected. */
export async function openHandleSockets(
  find: () => Result<HandleInternals, string> = findInternals,
  limitMs?: number,
  proofs: Partial<Proofs> = {},
): Promise<Result<HandleSockets, string>> {
  const found = find();
  if (!found.ok) return found;
  const internals = found.value;
  const tcp = await proveHandles(internals, limitMs);
  if (!tcp.ok) return tcp;
  const { tls: proveTls, accepting: proveAccepted } = { ...allProofs, ...proofs };
  const tls = await proveTls(internals, tcp.value, limitMs);
  const accepting = await proveAccepted(internals, tcp.value, limitMs);
  const proved = { tcp: tcp.value.prototype, tls: tls.ok ? tls.value.prototype : undefined };
  const layer = layerOf(internals, proved, accepting.ok ? accepting.value : undefined);
  return ok({
    layer,
    tlsLack: tls.ok ? undefined : tls.error,
    acceptLack: accepting.ok ? undefined : accepting.error,
  });
}

/** The prototypes of the proved handles. */
type Proved = { readonly tcp: object; readonly tls: object | undefined };

function layerOf(internals: HandleInternals, proved: Proved, acceptor: Acceptor | undefined): SocketLayer {
  const open = (socket: Socket, memory?: ReadBuffer): HandleTransport | undefined =>
    isProved(socket, proved) ? new HandleTransport(new SocketOwner(socket), internals, memory) : undefined;
  return {
    acceptor,
    take: (socket) => open(socket) ?? nodeSockets.take(socket),
    dial: (memory, receiver, isTls) =>
      isTls && proved.tls === undefined
        ? nodeSockets.dial(memory, receiver, isTls)
        : {
            opened(socket) {
              const transport = open(socket, memory) ?? nodeSockets.take(socket);
              transport.start(receiver);
              return transport;
            },
          },
  };
}

function isProved(socket: Socket, { tcp, tls }: Proved): boolean {
  const handle = handleOf(socket);
  if (handle === undefined) return false;
  const prototype: unknown = Object.getPrototypeOf(handle);
  if (prototype === tcp) return true;
  if (prototype !== tls || !isTlsHandle(handle)) return false;
  // TLS accepts one write at a time, so the socket must not have one under way.
  return Object.getPrototypeOf(handle._parent) === tcp && socket.bytesWritten === 0;
}
