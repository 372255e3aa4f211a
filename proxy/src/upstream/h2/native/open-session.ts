import { ReadBuffer } from "../../../sockets/read-buffer.ts";
import type { SocketLayer } from "../../../sockets/socket-layer.ts";
import type { TransportReceiver } from "../../../sockets/transport.ts";
import type { SessionOpener } from "../session.ts";
import { NativeUpstreamSession } from "./session.ts";

/**
 * The read buffer that all connections of the thread share. Each read is processed before the next one begins, and
 * content is copied out of the buffer.
 */
const memory = new ReadBuffer();

/** Opens sessions on the project's own codec. */
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
