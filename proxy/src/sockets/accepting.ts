import type { Server, Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { Transport } from "./transport.ts";

/** The address of one end of a connection, as known to the kernel. */
export type SocketAddress = { readonly address: string; readonly port: number };

/** The parameters with which TLS begins on an accepted connection. */
export type ServerTls = {
  readonly context: SecureContext;
  /** The protocols that ALPN selects from, in the encoding of RFC 7301 3.1. */
  readonly protocols: Uint8Array;
  /** The encrypted bytes that have been read already. */
  readonly read: Buffer;
};

export type ServerTlsEvents = {
  /**
   * The handshake is complete. `protocol` is that of ALPN, `version` is `TLSv1.2` or `TLSv1.3`. A failed handshake
   * closes the connection instead.
   */
  onSecure(
    transport: Transport,
    negotiated: { readonly protocol: string | false; readonly version: string },
  ): void;
};

/** An accepted connection for which Node has not created a socket. Either `open` or `toSocket` must be called, once. */
export type AcceptedConnection = {
  /** The address of the peer; undefined if the connection was already closed. */
  readonly peer: SocketAddress | undefined;
  /** Returns the address of this end; undefined if the connection is closed. */
  localAddress(): SocketAddress | undefined;
  /** Returns a transport that reads and writes the connection without a socket. */
  open(): Transport;
  /** Begins TLS as the server on a connection that has been opened. Its previous transport is no longer read. */
  secure(tls: ServerTls, events: ServerTlsEvents): void;
  /** Creates a socket on the connection, as Node's servers do. */
  toSocket(): Socket;
  /**
   * Creates a socket on a connection that has been opened. The socket first yields the bytes of `read`. The transport
   * reads no more, and closes the socket when it is destroyed. Returns undefined if the connection is closed.
   */
  passToSocket(read: Uint8Array): Socket | undefined;
};

/** Accepts connections below the sockets of Node. */
export type Acceptor = {
  /**
   * Passes the connections of a listening server to `accept` instead of emitting its event `connection`. The server
   * reports failures to accept as before. If this is not possible, it changes nothing and returns false.
   */
  accept(server: Server, accept: (connection: AcceptedConnection) => void): boolean;
};
