import type { Duplex } from "node:stream";

/** The counters of Node's socket handles, which its sockets do not expose; TLS uses the handle of its connection. */
type Handle = {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  readonly _parent?: Handle;
};

/**
 * The bytes that the system has taken for the peer so far, without those that wait in the process. `bytesWritten` of a
 * socket counts bytes that were only handed to it as well, and a piece of 64 KiB that leaves byte by byte looks as if
 * nothing happened until its end. With TLS these are the encrypted bytes. For streams that are no sockets: bytes written.
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
