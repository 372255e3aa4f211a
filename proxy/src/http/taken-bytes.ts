import type { Duplex } from "node:stream";

/** The counters of Node's socket handles, which its sockets do not expose. TLS uses those of its connection. */
type Handle = {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  readonly _parent?: Handle;
};

/**
 * Returns the bytes that the operating system has accepted for the peer so far, without those that wait in the process.
 * The `bytesWritten` of a socket includes bytes that were only handed to it, and a piece of 64 KiB that is sent byte by
 * byte shows no progress until its end. With TLS the encrypted bytes are counted. For streams other than sockets: bytes
 * written.
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
