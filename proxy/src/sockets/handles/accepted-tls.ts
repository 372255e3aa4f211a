import type { ServerTls, ServerTlsEvents } from "../accepting.ts";
import { HandleTransport } from "./handle-transport.ts";
import type { CreateServerTls, HandleInternals, ServerTlsHandle } from "./internals.ts";
import type { OwnHandle } from "./own-handle.ts";

/**
 * The most bytes that TLS is given at once of what was read before it: it keeps memory of 16 KiB for a connection of which it has once been
 * given 1,024 bytes or more (`NodeBIO` of Node.js).
 */
const maxPieceBytes = 1_000;

/**
 * Makes a handshake on an accepted connection of which the ClientHello has been read. The runtime reports its completion within the call
 * that reads the last message, in which the connection may be closed, but not freed: `OwnHandle` frees it once it is closed.
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
