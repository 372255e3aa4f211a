import { fastReadBytes } from "../sockets/read-buffer.ts";

/** The most content that is held for a client that does not take it. */
const maxHeldBytes = 65_536;
/**
 * The bytes that the system must have taken without a pause before more is read for a client than may be held for it: more
 * than fits between the proxy and a client that reads nothing.
 */
const fastAfterBytes = 8_388_608;

/** Records whether a connection has proved to be fast, once and for its whole life. Costs one addition per piece. */
export class ClientSpeed {
  private bytes = 0;

  /** Called when the system has taken a whole piece at once. */
  took(bytes: number): void {
    this.bytes += bytes;
  }

  /** Called when the system has taken less than the whole piece. */
  paused(): void {
    if (this.bytes < fastAfterBytes) this.bytes = 0;
  }

  /** How many bytes may be read at once while `heldBytes` wait; all together 64 KiB, but for one read of a fast client. */
  roomBytes(heldBytes: number): number {
    return heldBytes === 0 && this.bytes >= fastAfterBytes ? fastReadBytes : roomBytes(heldBytes);
  }
}

/** How many bytes may be read at once for a client that `heldBytes` wait for. */
export const roomBytes = (heldBytes: number): number => Math.max(0, maxHeldBytes - heldBytes);
