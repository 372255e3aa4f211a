import { initialWindowBytes } from "../frames/frame-types.ts";

/**
 * The window of the peer for a whole connection, and the accepted bytes by which it must be renewed: at the latest when
 * half of it is used, and earlier if content that is not accepted takes up most of it. Content of streams
 * that this end has reset may still arrive, up to what their windows allowed at that time.
 */
export class ReceiveWindow {
  private readonly maxBytes: number;
  private leftBytes = initialWindowBytes;
  private takenBytes = 0;
  /** The bytes that may still arrive for closed streams. */
  private lateBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Opens the window to its full size, and returns the increment for it. */
  open(): number {
    this.leftBytes = this.maxBytes;
    return this.maxBytes - initialWindowBytes;
  }

  /** Called when a frame of `bytes` arrives. Returns false if it exceeds the window. */
  receive(bytes: number): boolean {
    this.leftBytes -= bytes;
    return this.leftBytes >= 0;
  }

  /** Called when `bytes` have been accepted. Returns the increment by which the window is renewed now, or 0. */
  take(bytes: number): number {
    this.takenBytes += bytes;
    if (this.takenBytes < this.leftBytes) return 0;
    const increment = this.takenBytes;
    this.leftBytes += increment;
    this.takenBytes = 0;
    return increment;
  }

  /** Called when this end closes a stream that has that window left, which the peer does not know yet. */
  cutOff(windowBytes: number): void {
    if (windowBytes > 0) this.lateBytes += windowBytes;
  }

  /** Called when a frame of `bytes` arrives for such a stream. Returns false if the peer must have known of its end. */
  receiveLate(bytes: number): boolean {
    this.lateBytes -= bytes;
    return this.lateBytes >= 0;
  }
}
