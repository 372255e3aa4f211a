import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { TunnelReader, TunnelReceiver } from "../upstream/tunnel-reader.ts";
import type { Cancellable } from "./exchange.ts";

/** One end of an upgraded connection, with the bytes that were read ahead. */
export type TunnelEnd = {
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Ends the connection at once; unless given, by destroying the socket. */
  readonly abort?: () => void;
  /** What reads the socket, if it does not emit what it reads. */
  readonly reader?: TunnelReader;
};

export type TunnelEvents = {
  /** Bytes went either way; `clientBytes` of them to the client. */
  readonly onProgress: (clientBytes: number) => void;
  readonly onEnd: () => void;
};

/**
 * Joins two raw connections until both directions have ended. A half-close is passed on; an error of one end
 * destroys the other. Backpressure is that of the sockets: nothing is buffered here.
 */
export function joinTunnel(client: TunnelEnd, upstream: TunnelEnd, events: TunnelEvents): Cancellable {
  let open = 2;
  const destroy = (): void => {
    abortEnd(client);
    abortEnd(upstream);
  };
  const closed = (): void => {
    open--;
    if (open === 0) events.onEnd();
  };
  relay(upstream, client.socket, (bytes) => events.onProgress(bytes), destroy, closed);
  relay(client, upstream.socket, () => events.onProgress(0), destroy, closed);
  return { cancel: destroy };
}

function abortEnd({ socket, abort }: TunnelEnd): void {
  if (abort === undefined) socket.destroy();
  else abort();
}

function relay(
  from: TunnelEnd,
  to: Duplex,
  onProgress: (bytes: number) => void,
  destroy: () => void,
  closed: () => void,
): void {
  const { socket, reader } = from;
  const forward = (chunk: Buffer): boolean => {
    onProgress(chunk.length);
    // What the system took at once needs no wait, however much it was.
    return to.write(chunk) || to.writableLength === 0;
  };
  const forwardOrPause = (chunk: Buffer): void => {
    if (!forward(chunk)) socket.pause();
  };
  to.on("drain", () => socket.resume());
  if (reader === undefined) socket.on("data", forwardOrPause);
  else reader.start(receiverOf(to, forward));
  // One that has ended already, with nothing left to read, does not say so again.
  if (socket.readableEnded) to.end();
  else socket.on("end", () => to.end());
  socket.on("error", destroy);
  socket.on("close", () => {
    if (!socket.readableEnded) destroy();
    closed();
  });
  if (from.head.length > 0) forwardOrPause(from.head);
  socket.resume();
}

/** TLS writes later than it is told to, so that something always seems to be held. */
const receiverOf = (to: Duplex, receive: (bytes: Buffer) => boolean): TunnelReceiver => ({
  receive,
  get heldBytes() {
    return to instanceof TLSSocket ? undefined : to.writableLength;
  },
});
