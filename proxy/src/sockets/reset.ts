import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/** Ends a connection at once with RST, also while bytes wait to be sent; one of TLS that Node opened itself, with a close. */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket instanceof TLSSocket) {
    socket.destroy();
    return;
  }
  // On its own this would wait until everything is sent.
  socket.resetAndDestroy();
  socket.destroy();
}
