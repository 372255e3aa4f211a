import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/**
 * Ends a connection immediately with RST, even while bytes wait to be sent. A TLS socket is closed instead, and so is a
 * connection whose own end is on its way.
 */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket instanceof TLSSocket || isEnding(socket)) {
    socket.destroy();
    return;
  }
  // Without this call, the reset would wait until everything has been sent.
  socket.resetAndDestroy();
  socket.destroy();
}

/**
 * Reports whether the kernel has been asked to send our end and has not done so yet. In that state the runtime refuses
 * a reset, and then neither closes the connection nor reports that it is closed.
 */
const isEnding = ({ writableEnded, writableLength, writableFinished }: Socket): boolean =>
  writableEnded && writableLength === 0 && !writableFinished;
