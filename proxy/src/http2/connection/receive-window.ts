import { initialWindowBytes } from "../frames/frame-types.ts";

/**
 * What the peer may send on a whole connection, and what of it is to be given back. Content of streams that were reset here
 * may still come: as much as their windows allowed by then, and not more.
 */
export class ReceiveWindow {
  private readonly maxBytes: number;
  private leftBytes = initialWindowBytes;
  private takenBytes = 0;
  /** What may still come for streams that are closed. */
  private lateBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** The increment that makes the window as large as it shall be. */
  open(): number {
    this.leftBytes = this.maxBytes;
    return this.maxBytes - initialWindowBytes;
  }

  /** A frame brings `bytes`. False: the window is smaller. */
  receive(bytes: number): boolean {
    this.leftBytes -= bytes;
    return this.leftBytes >= 0;
  }

  /** `bytes` have been taken. Answers by how much the window opens again; 0: not yet. */
  take(bytes: number): number {
    this.takenBytes += bytes;
    if (this.takenBytes * 2 < this.maxBytes) return 0;
    const increment = this.takenBytes;
    this.leftBytes += increment;
    this.takenBytes = 0;
    return increment;
  }

  /** A stream with that window is closed here, unknown to the peer. */
  cutOff(windowBytes: number): void {
    if (windowBytes > 0) this.lateBytes += windowBytes;
  }

  /** A frame brings `bytes` for such a stream. False: the peer cannot have sent all that before it knew. */
  receiveLate(bytes: number): boolean {
    this.lateBytes -= bytes;
    return this.lateBytes >= 0;
  }
}
