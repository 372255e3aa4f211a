import type { NativeClientStream } from "./stream.ts";

/**
 * Content waits in frames of up to 16 KiB, which is long for a slow client with many streams. What the system has taken
 * while no frame was completed is shared among the streams that wait.
 */
export class PartlyTaken {
  /** What the system had taken when that was last shared among the streams. */
  private creditedBytes = 0;
  /** Content in frames of streams that have closed since. */
  private closedBytes = 0;

  onClosed(stream: NativeClientStream): void {
    this.closedBytes += stream.newlyFramedBytes();
  }

  /** `takenBytes` counts what the system has taken of the connection; `isWaiting` says whether frames wait for it. */
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
