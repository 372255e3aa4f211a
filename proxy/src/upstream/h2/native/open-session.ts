import { ReadBuffer } from "../../../sockets/read-buffer.ts";
import type { SocketLayer } from "../../../sockets/socket-layer.ts";
import type { TransportReceiver } from "../../../sockets/transport.ts";
import type { SessionOpener } from "../session.ts";
import { NativeUpstreamSession } from "./session.ts";

/**
 * How all connections read: into the memory that those of the thread share. Each read is dealt with before the next one begins, and
 * content is copied out of it.
 */
const memory = new ReadBuffer();

/** Sessions on the project's own codec. */
export function openNativeSession(sockets: SocketLayer, isTls: boolean): SessionOpener {
  let session: NativeUpstreamSession | undefined;
  const receiver: TransportReceiver = {
    receive: (piece) => session?.receive(piece),
    ended: () => session?.ended(),
    taken: () => session?.taken(),
    failed: (code) => session?.failed(code),
    closed: () => session?.closed(),
  };
  const dialling = sockets.dial(memory, receiver, isTls);
  return {
    ...(dialling.onread && { onread: dialling.onread }),
    open(socket, settingsTimeoutMs, events) {
      session = new NativeUpstreamSession(dialling.opened(socket), settingsTimeoutMs, events);
      return session;
    },
  };
}
