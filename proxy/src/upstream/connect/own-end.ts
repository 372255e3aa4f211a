import type { Socket } from "node:net";

/**
 * Whether a connection is one with itself. Where nothing listens on a port of this host from which connections are made, the system may choose
 * that very port for the near end as well: both ends open at the same time (RFC 9293 3.5), and get back what they send. The port would
 * be taken for as long, so that no backend could listen on it.
 */
export const isOwnEnd = (socket: Socket, port: number): boolean =>
  socket.localPort === port && socket.remotePort === port && socket.localAddress === socket.remoteAddress;
