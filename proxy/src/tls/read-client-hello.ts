import type { Socket } from "node:net";
import { lend, type Piece } from "../sockets/read-buffer.ts";
import { SocketStart } from "../sockets/socket-start.ts";
import type { Transport, TransportReceiver } from "../sockets/transport.ts";
import { type ClientHello, peekClientHello } from "./client-hello.ts";

export type HelloReaderEvents = {
  /** Called once when bytes have arrived, but not the whole message. */
  onBegun(): void;
  /**
   * Called with the ClientHello, or undefined if the bytes are not a ClientHello or too many. `read` holds all bytes,
   * valid until this returns.
   */
  onHello(hello: ClientHello | undefined, read: Buffer): void;
};

/** Reads until the ClientHello is known, and puts the bytes back into the socket. */
export function readClientHello(socket: Socket, events: HelloReaderEvents): void {
  const start = new SocketStart(socket);
  const reader = new HelloReader(start, {
    onBegun: () => events.onBegun(),
    onHello(hello, read) {
      start.putBack(read);
      events.onHello(hello, read);
    },
  });
  start.start(reader);
}

/** Reads until the ClientHello is known, and closes the connection if the client half-closes it before. */
export class HelloReader implements TransportReceiver {
  private readonly transport: Pick<Transport, "destroy">;
  private readonly events: HelloReaderEvents;
  private held: Buffer | undefined = undefined;

  constructor(transport: Pick<Transport, "destroy">, events: HelloReaderEvents) {
    this.transport = transport;
    this.events = events;
  }

  receive({ bytes: piece }: Piece): void {
    const { held, events } = this;
    const bytes = held === undefined ? lend(piece, 0, piece.length) : Buffer.concat([held, piece]);
    const peek = peekClientHello(bytes);
    if (peek.kind !== "incomplete") return events.onHello(peek.kind === "hello" ? peek : undefined, bytes);
    this.held = Buffer.from(bytes);
    if (held === undefined) events.onBegun();
  }

  ended(): void {
    this.transport.destroy();
  }

  taken(): void {}

  closed(): void {}
}
