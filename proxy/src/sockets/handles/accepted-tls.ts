import type { ServerTls, ServerTlsEvents } from "../accepting.ts";
import { HandleTransport } from "./handle-transport.ts";
import type { CreateServerTls, HandleInternals, ServerTlsHandle } from "./internals.ts";
import type { OwnHandle } from "./own-handle.ts";

/**
 * The most bytes of earlier reads that are passed to TLS in one call. TLS keeps 16 KiB of memory for a connection that
 * has once received 1,024 bytes or more in a call (`NodeBIO` of Node.js).
 */
const maxPieceBytes = 1_000;

/**
 * Performs a handshake on an accepted connection whose ClientHello has been read. The runtime reports its completion
 * during the call that reads the last message. In that call the connection may be closed but must not be freed;
 * `OwnHandle` frees it once it is closed.
 */
export function startServerTls(
  owner: OwnHandle,
  internals: HandleInternals,
  create: CreateServerTls,
  { context, protocols, read }: ServerTls,
  events: ServerTlsEvents,
): void {
  const tls = owner.secure((tcp) => create(tcp, context));
  if (tls === undefined) return;
  let isDone = false;
  tls.setALPNProtocols(protocols);
  const calls: Pick<ServerTlsHandle, "onhandshakestart" | "onhandshakedone" | "onerror" | "onread"> = {
    onhandshakestart: () => {},
    onhandshakedone() {
      if (isDone || owner.isClosed) return;
      isDone = true;
      const protocol = tls.getALPNNegotiatedProtocol();
      events.onSecure(new HandleTransport(owner, internals), { protocol, version: tls.getProtocol() });
    },
    onerror: ({ code }) => owner.fail(code),
    // The client has left, or the connection is broken, before the end of the handshake.
    onread() {
      owner.destroy();
      return undefined;
    },
  };
  Object.assign(tls, calls);
  feed(tls, read, owner);
}

function feed(tls: ServerTlsHandle, bytes: Buffer, owner: OwnHandle): void {
  for (let at = 0; at < bytes.length && !owner.isClosed; at += maxPieceBytes) {
    tls.receive(bytes.subarray(at, at + maxPieceBytes));
  }
}
