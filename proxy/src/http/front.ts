import type { Duplex } from "node:stream";
import type { ClientConnection } from "../exchange/client-connection.ts";
import type { ClientStream, RequestHead } from "../message/message.ts";
import type { Transport, TransportReceiver } from "../sockets/transport.ts";

/** Takes a parsed request; the pipeline is the only implementation. */
export type RequestHandler = (connection: ClientConnection, head: RequestHead, client: ClientStream) => void;

/**
 * A protocol codec over accepted sockets. Sockets arrive after the PROXY protocol and the TLS handshake; the front
 * owns them from then on.
 */
export type Front = {
  /** `spentMs`: for how long the beginning of the first request has been there, where that is known. */
  accept(socket: Duplex, connection: ClientConnection, spentMs?: number): void;
  /**
   * The same for a connection without a socket. Answers what its transport reads for from now on, to which the caller passes what it
   * has read itself. Absent where the codec needs sockets.
   */
  readonly take?: (transport: Transport, connection: ClientConnection, spentMs?: number) => TransportReceiver;
  /** Finishes requests under way and accepts no new ones: `Connection: close` or GOAWAY. */
  drain(): void;
  /** Number of connections that are still open. */
  readonly connections: number;
  /** Ends everything now; returns how many requests were cut. */
  destroy(): number;
};

/** Limits and timeouts of client connections. Sizes in bytes, times in milliseconds, 0 = off. */
export type FrontLimits = {
  readonly maxUriBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  readonly maxRequestsPerConnection: number;
  /** From the first byte of a request to the end of its head. */
  readonly headerTimeoutMs: number;
  /** Between two reads of a body. */
  readonly bodyTimeoutMs: number;
  /** Idle keep-alive connection. */
  readonly idleTimeoutMs: number;
  /** The client takes none of the pending bytes. */
  readonly writeTimeoutMs: number;
};
