import type { Socket } from "node:net";
import { type ClientHello, peekClientHello } from "./client-hello.ts";

export type ClientHelloEvents = {
  /** Some bytes have come, but not all of the message; called once. */
  onBegun(): void;
  /** What came is in the socket again. Undefined for what is no ClientHello, or too large. */
  onHello(hello: ClientHello | undefined): void;
};

/** Reads until the ClientHello is known. A client that ends its side before is let go. */
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
