/** What one client connection may do within `floodWindowMs` (docs/features/http2.md, "Abuse protection"). */
export const floodWindowMs = 10_000;
export const maxResetStreams = 200;
export const maxControlFrames = 1000;

/** The smallest control frame that matters: a WINDOW_UPDATE, 9 bytes of head and 4 of payload. */
const controlFrameBytes = 13;
/** How many explained bytes may still be on their way: what a client sent before it saw resets, by its window. */
const maxPrepaidBytes = 2_097_152;
/** Bytes on the wire per unread byte of a body if it comes in the smallest DATA frames. */
const maxWireFactor = 10;

export type Flood = "reset-flood" | "control-flood";

/**
 * Counts what a client does without asking for anything: streams it resets or makes the proxy reset (rapid reset,
 * "MadeYouReset"), PING and SETTINGS frames, and bytes that belong to no request. The last number stands for the
 * frames that Node answers or drops without telling: WINDOW_UPDATE, PRIORITY and unknown ones.
 *
 * Methods that can find a flood answer what it consists of, else undefined. Times are milliseconds on one clock.
 */
export class FloodGuard {
  private windowStartMs: number;
  private resets = 0;
  private controls = 0;
  /** Frames that a client may send because it received data from us, e.g. PINGs that measure the bandwidth. */
  private answers = 0;

  private receivedBytes = 0;
  private explainedBytes = 0;
  private unexplainedBytes = 0;

  constructor(nowMs: number) {
    this.windowStartMs = nowMs;
  }

  /** A stream ended before its response did. */
  countReset(nowMs: number): Flood | undefined {
    this.roll(nowMs);
    return ++this.resets >= maxResetStreams ? "reset-flood" : undefined;
  }

  /** A PING or SETTINGS frame of `frameBytes` arrived. */
  countControl(nowMs: number, frameBytes: number): Flood | undefined {
    this.roll(nowMs);
    this.explainedBytes += frameBytes;
    if (this.answers > 0) {
      this.answers--;
      return undefined;
    }
    return ++this.controls >= maxControlFrames ? "control-flood" : undefined;
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
   * must stay below the room that `maxControlFrames` take. `unreadBytes` wait in streams and will be explained later.
   */
  checkOverhead(nowMs: number, receivedBytes: number, unreadBytes: number): Flood | undefined {
    this.unexplainedBytes += receivedBytes - this.receivedBytes - this.explainedBytes;
    this.receivedBytes = receivedBytes;
    this.explainedBytes = 0;
    if (this.unexplainedBytes < -maxPrepaidBytes) this.unexplainedBytes = -maxPrepaidBytes;
    const overhead = this.unexplainedBytes - maxWireFactor * unreadBytes;
    if (overhead >= maxControlFrames * controlFrameBytes) return "control-flood";
    this.roll(nowMs);
    return undefined;
  }

  private roll(nowMs: number): void {
    if (nowMs - this.windowStartMs < floodWindowMs) return;
    this.windowStartMs = nowMs;
    this.resets = 0;
    this.controls = 0;
    if (this.unexplainedBytes > 0) this.unexplainedBytes = 0;
  }
}
