import type { Duplex } from "node:stream";
import type { ClientConnection } from "../exchange/client-connection.ts";
import type { ClientStream, RequestHead } from "../message/message.ts";
import type { Transport, TransportReceiver } from "../sockets/transport.ts";

/** Handles a parsed request; the pipeline is the only implementation. */
export type RequestHandler = (connection: ClientConnection, head: RequestHead, client: ClientStream) => void;

/**
 * A protocol codec over accepted sockets. Sockets arrive after the PROXY protocol and the TLS handshake; the front
 * owns them from then on.
 */
export type Front = {
  /** Serves a socket. `spentMs` is the time since the first bytes of the first request arrived, if known. */
  accept(socket: Duplex, connection: ClientConnection, spentMs?: number): void;
  /**
   * Serves a connection without a socket. Returns the receiver of its transport from now on; the caller passes it the
   * bytes that it has already read. Absent if the codec needs sockets.
   */
  readonly take?: (transport: Transport, connection: ClientConnection, spentMs?: number) => TransportReceiver;
  /** Finishes requests under way and accepts no new ones, by means of `Connection: close` or GOAWAY. */
  drain(): void;
  /** Number of connections that are still open. */
  readonly connections: number;
  /** Closes all connections immediately; returns how many requests were cut. */
  destroy(): number;
};

/** Limits and timeouts of client connections. Sizes in bytes, times in milliseconds, 0 = off. */
export type FrontLimits = {
  readonly maxUriBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  readonly maxRequestsPerConnection: number;
  /** The longest time from the first byte of a request to the end of its head. */
  readonly headerTimeoutMs: number;
  /** The longest time between two reads of a body. */
  readonly bodyTimeoutMs: number;
  /** The longest time that a keep-alive connection may be idle. */
  readonly idleTimeoutMs: number;
  /** The longest time without enough progress of a client in reading the pending bytes (reading-pace.ts). */
  readonly writeTimeoutMs: number;
};
