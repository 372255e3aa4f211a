import { type Flood, floodWindowMs, maxControlFrames, maxResetStreams } from "../flood-limits.ts";
import { RecentCount } from "../recent-count.ts";

/** The most empty DATA frames in a row, on all streams of the connection. */
const maxEmptyFrames = 100;
/** The frames that a client may send uncounted for each stream that it opens: its priorities and windows. */
const framesPerStream = 8;
/** The frames that a peer may send uncounted for content that it received, enough for many small windows. */
const framesPerContent = 4;
const contentBytesPerFrame = 256;
/** The most uncounted frames that can accumulate. */
const maxFreeFrames = 10_000;

export type PeerFlood = Flood | "frame-flood";

/**
 * Counts the frames of a peer that serve no request (docs/features/http2.md, "Abuse protection"). All control frames
 * share one count per ten seconds, except those that streams and content account for. Methods return the kind of a
 * detected flood, otherwise undefined. Times are milliseconds on one clock.
 */
export class FrameGuard {
  private readonly asServer: boolean;
  /** Created with their first event. Connections to servers count neither opened nor reset streams. */
  private opened: RecentCount | undefined = undefined;
  private resets: RecentCount | undefined = undefined;
  private controls: RecentCount | undefined = undefined;
  /** The empty DATA frames since the last content, or the last end of a stream. */
  private emptyFrames = 0;
  /** PINGs that a peer may send because it received data, such as those that measure the path. */
  private freePings = 0;
  /** Frames for `countMinor` that streams and content account for. */
  private freeFrames = 0;

  /** Without `asServer` the peer is a server, which only loses requests by breaking streams: that is not a flood. */
  constructor({ asServer }: { readonly asServer: boolean }) {
    this.asServer = asServer;
  }

  countOpened(nowMs: number): void {
    if (this.asServer) {
      this.opened ??= new RecentCount(floodWindowMs, nowMs);
      this.opened.add(nowMs);
    }
    this.freeFrames = Math.min(maxFreeFrames, this.freeFrames + framesPerStream);
  }

  /**
   * Counts a stream that ended before its response did, because the peer cancelled it or sent something malformed.
   * That this happens to some of many requests is not a flood.
   */
  countReset(nowMs: number): PeerFlood | undefined {
    if (!this.asServer) return undefined;
    this.resets ??= new RecentCount(floodWindowMs, nowMs);
    this.resets.add(nowMs);
    const resets = this.resets.total(nowMs);
    if (resets <= maxResetStreams) return undefined;
    return 2 * resets > (this.opened?.total(nowMs) ?? 0) ? "reset-flood" : undefined;
  }

  /** Counts a frame that nothing accounts for: SETTINGS, an unsolicited acknowledgement of it, an unknown type. */
  countControl(nowMs: number): PeerFlood | undefined {
    this.controls ??= new RecentCount(floodWindowMs, nowMs);
    this.controls.add(nowMs);
    return this.controls.total(nowMs) >= maxControlFrames ? "control-flood" : undefined;
  }

  /** Counts a PING, or an unsolicited acknowledgement of one. */
  countPing(nowMs: number): PeerFlood | undefined {
    if (this.freePings === 0) return this.countControl(nowMs);
    this.freePings--;
    return undefined;
  }

  /**
   * Counts a frame of a kind that streams and content account for, up to a number: WINDOW_UPDATE, both kinds of
   * priorities, GOAWAY, and frames for a closed stream.
   */
  countMinor(nowMs: number): PeerFlood | undefined {
    if (this.freeFrames === 0) return this.countControl(nowMs);
    this.freeFrames--;
    return undefined;
  }

  /** Counts a DATA frame without content that does not end its stream. */
  countEmpty(nowMs: number): PeerFlood | undefined {
    if (!this.asServer) return this.countMinor(nowMs);
    return ++this.emptyFrames > maxEmptyFrames ? "frame-flood" : undefined;
  }

  /**
   * Ends a row of empty DATA frames. Called for content and for the end of an open stream. Content that alternates with
   * empty frames causes no more work for each octet received than content in frames of one octet.
   */
  endEmpty(): void {
    this.emptyFrames = 0;
  }

  /** Called when content is sent: the peer will then open its windows again, and may measure the path. */
  countSent(bytes: number): void {
    this.freeFrames = Math.min(
      maxFreeFrames,
      this.freeFrames + framesPerContent + Math.floor(bytes / contentBytesPerFrame),
    );
    if (this.freePings < maxControlFrames) this.freePings++;
  }
}
