import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/**
 * Ends a connection at once with RST, even while bytes wait to be sent. A TLS connection that Node opened itself is closed
 * instead, and so is one whose own end is on its way.
 */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket instanceof TLSSocket || isEnding(socket)) {
    socket.destroy();
    return;
  }
  // Without this, the reset would wait until everything is sent.
  socket.resetAndDestroy();
  socket.destroy();
}

/**
 * The system has been asked to send our end, and has not done so yet. The runtime refuses a reset in between, and then
 * neither closes the connection nor reports that it is closed.
 */
const isEnding = ({ writableEnded, writableLength, writableFinished }: Socket): boolean =>
  writableEnded && writableLength === 0 && !writableFinished;
