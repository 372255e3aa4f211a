import { fastReadBytes } from "../sockets/read-buffer.ts";

/** The most content that is held for a client that does not read it. */
const maxHeldBytes = 65_536;
/**
 * The bytes that the operating system must have accepted without a pause before more is read for a client than
 * `maxHeldBytes`. This is more than the buffers between the proxy and a client that reads nothing can hold.
 */
const fastAfterBytes = 8_388_608;

/** Records whether a connection has proved fast, which holds for its whole life. Costs one addition per piece. */
export class ClientSpeed {
  private bytes = 0;

  /** Called when the operating system has accepted a whole piece immediately. */
  took(bytes: number): void {
    this.bytes += bytes;
  }

  /** Called when the operating system has accepted less than the whole piece. */
  paused(): void {
    if (this.bytes < fastAfterBytes) this.bytes = 0;
  }

  /**
   * Returns how many bytes may be read while `heldBytes` wait: up to 64 KiB in total, or one large read for a fast
   * client.
   */
  roomBytes(heldBytes: number): number {
    return heldBytes === 0 && this.bytes >= fastAfterBytes ? fastReadBytes : roomBytes(heldBytes);
  }
}

/** Returns how many bytes may be read for a client for which `heldBytes` wait. */
export const roomBytes = (heldBytes: number): number => Math.max(0, maxHeldBytes - heldBytes);
