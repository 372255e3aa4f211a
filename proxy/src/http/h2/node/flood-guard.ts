import { type Flood, floodWindowMs, maxControlFrames, maxResetStreams } from "../../../http2/flood-limits.ts";
import { RecentCount } from "../../../http2/recent-count.ts";

/** The assumed size of a control frame that is only noticed by its bytes: 9 of header and 8 of payload. */
const controlFrameBytes = 17;
/** The most explained bytes that may still be on their way: those that a client sends before it sees a reset. */
const maxPrepaidBytes = 2_097_152;
/** The header of a DATA frame, the length of its padding, and the most padding that it may have (RFC 9113 6.1). */
export const dataFrameOverheadBytes = 9 + 1 + 255;
/** Bytes on the wire per unread byte of a body if each arrives in a separate DATA frame. */
const maxWireFactor = 1 + dataFrameOverheadBytes;

/**
 * Counts the activity of a client that serves no request: streams that it resets or makes the proxy reset (rapid reset,
 * "MadeYouReset"), unsolicited PING and SETTINGS frames and acknowledgements, and bytes that belong to no request.
 * These bytes cover the frames that Node answers or drops without an event: WINDOW_UPDATE, PRIORITY and unknown ones.
 *
 * Methods that can detect a flood return its kind, otherwise undefined. Times are milliseconds on one clock.
 */
export class FloodGuard {
  private readonly opened: RecentCount;
  private readonly resets: RecentCount;
  private readonly controls: RecentCount;
  /** Frames that a client may send in response to data from the proxy, such as PINGs that measure the bandwidth. */
  private answers = 0;

  private windowStartMs: number;
  private receivedBytes = 0;
  private explainedBytes = 0;
  private unexplainedBytes = 0;

  constructor(nowMs: number) {
    this.windowStartMs = nowMs;
    this.opened = new RecentCount(floodWindowMs, nowMs);
    this.resets = new RecentCount(floodWindowMs, nowMs);
    this.controls = new RecentCount(floodWindowMs, nowMs);
  }

  /** Called when a stream was opened. */
  countOpened(nowMs: number): void {
    this.opened.add(nowMs);
  }

  /** Called when a stream ended before its response did. Cancelling some of many requests is not a flood. */
  countReset(nowMs: number): Flood | undefined {
    this.resets.add(nowMs);
    const resets = this.resets.total(nowMs);
    if (resets <= maxResetStreams) return undefined;
    return 2 * resets > this.opened.total(nowMs) ? "reset-flood" : undefined;
  }

  /** Called when a PING or SETTINGS frame or an unsolicited acknowledgement of `frameBytes` arrived. */
  countControl(nowMs: number, frameBytes: number): Flood | undefined {
    this.explainedBytes += frameBytes;
    if (this.answers > 0) {
      this.answers--;
      return undefined;
    }
    this.controls.add(nowMs);
    return this.controls.total(nowMs) >= maxControlFrames ? "control-flood" : undefined;
  }

  /** Accounts for `bytes` of the connection: a header list, a piece of a body, and the frames around them. */
  explain(bytes: number): void {
    this.explainedBytes += bytes;
  }

  /** Called when data is sent, after which the client will update its windows and may measure the path. */
  countSent(bytes: number): void {
    this.explainedBytes += 64 + (bytes >> 4);
    if (this.answers < maxControlFrames) this.answers++;
  }

  /**
   * Compares the total bytes that the connection has received with the explained ones. The remainder in a window counts
   * as control frames of `controlFrameBytes`. `unreadBytes` wait in streams and will be explained later.
   */
  checkOverhead(nowMs: number, receivedBytes: number, unreadBytes: number): Flood | undefined {
    this.unexplainedBytes += receivedBytes - this.receivedBytes - this.explainedBytes;
    this.receivedBytes = receivedBytes;
    this.explainedBytes = 0;
    if (this.unexplainedBytes < -maxPrepaidBytes) this.unexplainedBytes = -maxPrepaidBytes;
    const overhead = Math.max(0, this.unexplainedBytes - maxWireFactor * unreadBytes);
    const frames = overhead === 0 ? 0 : this.controls.total(nowMs) + overhead / controlFrameBytes;
    if (frames >= maxControlFrames) return "control-flood";
    this.roll(nowMs);
    return undefined;
  }

  private roll(nowMs: number): void {
    if (nowMs - this.windowStartMs < floodWindowMs) return;
    this.windowStartMs = nowMs;
    if (this.unexplainedBytes > 0) this.unexplainedBytes = 0;
  }
}
