import type { Socket } from "node:net";

/** Ends a connection at once with RST, also while bytes wait to be sent. */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  // On its own this would wait until everything is sent.
  socket.resetAndDestroy();
  socket.destroy();
}
