import type { Socket } from "node:net";

/**
 * Reports whether a socket is connected to itself. If nothing listens on an ephemeral port of this host, the system can
 * choose that same port as the local one of a connection to it. The socket then opens both ends simultaneously (RFC
 * 9293 3.5) and receives its own data. While it is open, no backend can listen on that port.
 */
export const isOwnEnd = (socket: Socket, port: number): boolean =>
  socket.localPort === port && socket.remotePort === port && socket.localAddress === socket.remoteAddress;
