import type { Server, Socket } from "node:net";
import type { Transport } from "./transport.ts";

/** An end of a connection, as the system knows it. */
export type SocketAddress = { readonly address: string; readonly port: number };

/** A connection that has been accepted, for which Node has made no socket. `open` or `toSocket` takes it over, one of them, once. */
export type AcceptedConnection = {
  /** Undefined: already closed. */
  readonly peer: SocketAddress | undefined;
  /** Undefined: closed. */
  localAddress(): SocketAddress | undefined;
  /** Reads and writes it without a socket. */
  open(): Transport;
  /** Makes a socket of it, as Node's servers do. */
  toSocket(): Socket;
};

/** Accepts connections below the sockets of Node. */
export type Acceptor = {
  /**
   * Passes what a listening server accepts to `accept`, in place of its event `connection`. The server reports failures of
   * accepting as before. Answers false, and changes nothing, where this is not possible.
   */
  accept(server: Server, accept: (connection: AcceptedConnection) => void): boolean;
};
