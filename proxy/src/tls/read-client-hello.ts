import type { Socket } from "node:net";
import { lend, type Piece } from "../sockets/read-buffer.ts";
import type { Transport, TransportReceiver } from "../sockets/transport.ts";
import { type ClientHello, peekClientHello } from "./client-hello.ts";

export type ClientHelloEvents = {
  /** Called once when some bytes have arrived, but not the whole message. */
  onBegun(): void;
  /** Called with the ClientHello, or undefined for bytes that are none or too large. The bytes are put back into the socket. */
  onHello(hello: ClientHello | undefined): void;
};

/** Reads until the ClientHello is known. The connection of a client that half-closes before is closed. */
export function readClientHello(socket: Socket, events: ClientHelloEvents): void {
  let bytes: Buffer = Buffer.alloc(0);
  const onEnd = (): void => void socket.destroy();
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    const isFirst = bytes.length === 0;
    bytes = isFirst ? chunk : Buffer.concat([bytes, chunk]);
    const peek = peekClientHello(bytes);
    if (peek.kind === "incomplete") {
      if (isFirst) events.onBegun();
      return;
    }
    socket.off("readable", onReadable);
    socket.off("end", onEnd);
    socket.unshift(bytes);
    events.onHello(peek.kind === "hello" ? peek : undefined);
  };
  socket.on("readable", onReadable);
  socket.on("end", onEnd);
}

export type HelloReaderEvents = {
  /** The same as that of `ClientHelloEvents`. */
  onBegun(): void;
  /** Called with the ClientHello, or undefined for bytes that are none or too large. `read` are all bytes, valid until this returns. */
  onHello(hello: ClientHello | undefined, read: Buffer): void;
};

/** The same on the transport of a connection, which is read no more after `onHello`. */
export class HelloReader implements TransportReceiver {
  private readonly transport: Transport;
  private readonly events: HelloReaderEvents;
  private held: Buffer | undefined = undefined;

  constructor(transport: Transport, events: HelloReaderEvents) {
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
