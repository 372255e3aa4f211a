import type { OnReadOpts, Socket } from "node:net";
import type { Acceptor } from "./accepting.ts";
import type { ReadBuffer } from "./read-buffer.ts";
import { SocketTransport } from "./socket-transport.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

/**
 * Reads and writes the bytes of established TCP connections (`--socket-layer`, docs/adr/0033-tcp-handles.md). Sockets
 * are opened by Node's public classes in any case, and accepted by them if the layer has no acceptor.
 */
export type SocketLayer = {
  readonly acceptor?: Acceptor | undefined;
  /** Adopts a connection, with all bytes that were read from it and put back. */
  take(socket: Socket): Transport;
  /** Prepares to read a connection that is about to be opened, TLS or not, into memory of the caller's choice. */
  dial(memory: ReadBuffer, receiver: TransportReceiver, isTls: boolean): Dialling;
};

/** A connection that is being opened. */
export type Dialling = {
  /** The read option of the socket; absent for its default. */
  readonly onread?: OnReadOpts;
  /** Adopts the established connection, which reads for the receiver from now on. */
  opened(socket: Socket): Transport;
};

/** The layer on Node's public sockets. */
export const nodeSockets: SocketLayer = {
  take: (socket) => new SocketTransport(socket),
  dial(memory, receiver) {
    let transport: SocketTransport | undefined;
    return {
      onread: memory.onread((piece) => {
        (transport ?? receiver).receive(piece);
        return true;
      }),
      opened(socket) {
        transport = new SocketTransport(socket, { readsIntoMemory: true });
        transport.start(receiver);
        return transport;
      },
    };
  },
};
