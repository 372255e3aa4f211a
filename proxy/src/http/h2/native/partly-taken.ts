import type { NativeClientStream } from "./stream.ts";

/**
 * Credits progress to streams while no frame is completed. Content waits in frames of up to 16 KiB, which take long for
 * a slow client with many streams. So the bytes that the operating system has accepted meanwhile are divided among the
 * waiting streams.
 */
export class PartlyTaken {
  /** The bytes that the operating system had accepted at the last call of `credit`. */
  private creditedBytes = 0;
  /** The framed content of streams that have closed since then. */
  private closedBytes = 0;

  onClosed(stream: NativeClientStream): void {
    this.closedBytes += stream.newlyFramedBytes();
  }

  /**
   * `takenBytes` is the total that the operating system has accepted; `isWaiting` is true if it has not accepted all
   * frames.
   */
  credit(streams: ReadonlyMap<number, NativeClientStream>, takenBytes: number, isWaiting: boolean): void {
    const content = takenBytes - this.creditedBytes;
    let framed = this.closedBytes;
    let waiting = 0;
    for (const stream of streams.values()) {
      framed += stream.newlyFramedBytes();
      if (stream.heldBytes > 0) waiting++;
    }
    this.creditedBytes = takenBytes;
    this.closedBytes = 0;
    if (framed > 0 || content <= 0 || !isWaiting) return;
    for (const stream of streams.values()) if (stream.heldBytes > 0) stream.countPartly(content / waiting);
  }
}
