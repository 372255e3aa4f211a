import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/**
 * Ends a connection at once with RST, even while bytes wait to be sent; a TLS connection that Node opened itself is
 * closed instead.
 */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket instanceof TLSSocket) {
    socket.destroy();
    return;
  }
  // Without this, the reset would wait until everything is sent.
  socket.resetAndDestroy();
  socket.destroy();
}
