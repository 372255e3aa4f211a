import type { Server, Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { Transport } from "./transport.ts";

/** An end of a connection, as the system knows it. */
export type SocketAddress = { readonly address: string; readonly port: number };

/** How TLS begins on an accepted connection. */
export type ServerTls = {
  readonly context: SecureContext;
  /** What ALPN chooses from, in the form of RFC 7301 3.1. */
  readonly protocols: Uint8Array;
  /** The encrypted bytes that have been read. */
  readonly read: Buffer;
};

export type ServerTlsEvents = {
  /** The handshake is complete. `protocol` is that of ALPN, `version` `TLSv1.2` or `TLSv1.3`. A failed one closes the connection. */
  onSecure(
    transport: Transport,
    negotiated: { readonly protocol: string | false; readonly version: string },
  ): void;
};

/** A connection that has been accepted, for which Node has made no socket. `open` or `toSocket` takes it over, one of them, once. */
export type AcceptedConnection = {
  /** Undefined: already closed. */
  readonly peer: SocketAddress | undefined;
  /** Undefined: closed. */
  localAddress(): SocketAddress | undefined;
  /** Reads and writes it without a socket. */
  open(): Transport;
  /** Begins TLS as its server on a connection that has been opened, whose transport is read no more. */
  secure(tls: ServerTls, events: ServerTlsEvents): void;
  /** Makes a socket of it, as Node's servers do. */
  toSocket(): Socket;
  /**
   * The same of a connection that has been opened: its transport reads no more, and closes the socket. `read` are the bytes that the
   * socket begins with. Undefined: the connection is closed.
   */
  passToSocket(read: Uint8Array): Socket | undefined;
};

/** Accepts connections below the sockets of Node. */
export type Acceptor = {
  /**
   * Passes what a listening server accepts to `accept`, in place of its event `connection`. The server reports failures of
   * accepting as before. Answers false, and changes nothing, where this is not possible.
   */
  accept(server: Server, accept: (connection: AcceptedConnection) => void): boolean;
};
