import type { Duplex } from "node:stream";

/** What Node's handles of sockets count, which its sockets do not tell; TLS stands on the handle of its connection. */
type Handle = {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  readonly _parent?: Handle;
};

/**
 * The bytes that the system has taken for the peer so far, whatever waits in the process left out. `bytesWritten` of a socket
 * counts what was handed over as well, and a piece of 64 KiB that leaves byte by byte looks as if nothing happened until
 * its end. With TLS these are the encrypted bytes. For what is no socket of the system: what it has been given.
 */
export function takenBytes(socket: Duplex): number {
  const { _handle: own, bytesWritten = 0 } = socket as {
    readonly _handle?: Handle | null;
    readonly bytesWritten?: number;
  };
  const handle = own?._parent ?? own;
  if (handle?.bytesWritten === undefined || handle.writeQueueSize === undefined) {
    return bytesWritten - socket.writableLength;
  }
  return handle.bytesWritten - handle.writeQueueSize;
}
