import { type Flood, floodWindowMs, maxControlFrames, maxResetStreams } from "../../../http2/flood-limits.ts";
import { RecentCount } from "../../../http2/recent-count.ts";

/** A control frame that is only seen by its bytes: 9 of head and 8 of payload. */
const controlFrameBytes = 17;
/** How many explained bytes may still be on their way: what a client sent before it saw resets, by its window. */
const maxPrepaidBytes = 2_097_152;
/** Head of a DATA frame, the length of its padding, and the most padding that it may have (RFC 9113 6.1). */
export const dataFrameOverheadBytes = 9 + 1 + 255;
/** Bytes on the wire per unread byte of a body if each comes in a DATA frame of its own. */
const maxWireFactor = 1 + dataFrameOverheadBytes;

/**
 * Counts what a client does without asking for anything: streams it resets or makes the proxy reset (rapid reset,
 * "MadeYouReset"), unsolicited PING and SETTINGS frames and acknowledgements, and bytes that belong to no request.
 * The last number covers the frames that Node answers or drops without an event: WINDOW_UPDATE, PRIORITY and unknown
 * ones.
 *
 * Methods that can find a flood answer what it consists of, else undefined. Times are milliseconds on one clock.
 */
export class FloodGuard {
  private readonly opened: RecentCount;
  private readonly resets: RecentCount;
  private readonly controls: RecentCount;
  /** Frames that a client may send because it received data from us, e.g. PINGs that measure the bandwidth. */
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

  /** A stream was opened. */
  countOpened(nowMs: number): void {
    this.opened.add(nowMs);
  }

  /** A stream ended before its response did. One who cancels some of many requests is no flood. */
  countReset(nowMs: number): Flood | undefined {
    this.resets.add(nowMs);
    const resets = this.resets.total(nowMs);
    if (resets <= maxResetStreams) return undefined;
    return 2 * resets > this.opened.total(nowMs) ? "reset-flood" : undefined;
  }

  /** A PING or SETTINGS frame, or an acknowledgement of nothing, of `frameBytes` arrived. */
  countControl(nowMs: number, frameBytes: number): Flood | undefined {
    this.explainedBytes += frameBytes;
    if (this.answers > 0) {
      this.answers--;
      return undefined;
    }
    this.controls.add(nowMs);
    return this.controls.total(nowMs) >= maxControlFrames ? "control-flood" : undefined;
  }

  /** `bytes` of the connection are accounted for: a header list, a piece of a body, and the frames around them. */
  explain(bytes: number): void {
    this.explainedBytes += bytes;
  }

  /** Data goes out: the client will open windows again and may measure the path. */
  countSent(bytes: number): void {
    this.explainedBytes += 64 + (bytes >> 4);
    if (this.answers < maxControlFrames) this.answers++;
  }

  /**
   * Compares the bytes that the connection has received in all with what was explained. What is left over in a window
   * counts as control frames of `controlFrameBytes`. `unreadBytes` wait in streams and will be explained later.
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
