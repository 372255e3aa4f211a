import { type Flood, floodWindowMs, maxControlFrames, maxResetStreams } from "../flood-limits.ts";
import { RecentCount } from "../recent-count.ts";

/** The most SETTINGS frames. A peer with fixed settings sends them once. */
const maxSettingsFrames = 200;
/** The most empty DATA frames in a row, on all streams of the connection. */
const maxEmptyFrames = 100;
/** The frames that a client may send uncounted for each stream that it opens: its priorities and windows. */
const framesPerStream = 8;
/** The frames that a peer may send uncounted for content that it received, enough for many small windows. */
const framesPerContent = 4;
const contentBytesPerFrame = 256;
/** The most uncounted frames that can accumulate. */
const maxFreeFrames = 10_000;
/** The payload for which a frame of an unknown type counts once more. */
const unknownBytesPerFrame = 1024;

export type PeerFlood = Flood | "frame-flood";

/**
 * Frames that streams and content account for, up to a number: WINDOW_UPDATE, both kinds of priorities, and frames for
 * a closed stream.
 */
export type MinorFrame = "windows" | "priorities" | "strays";

type Counted = MinorFrame | "resets" | "pings" | "settings" | "unknown";

/**
 * Counts the frames of a peer that serve no request, each kind with a limit per ten seconds (docs/features/http2.md,
 * "Abuse protection"). Methods return the kind of a detected flood, otherwise undefined. Times are milliseconds on one
 * clock.
 */
export class FrameGuard {
  private readonly asServer: boolean;
  private readonly counts: { [Kind in Counted]?: RecentCount } = {};
  /** Counts the streams that a client opens. */
  private opened: RecentCount | undefined = undefined;
  /** The empty DATA frames since the last content, or the last end of a stream. */
  private emptyFrames = 0;
  /** PINGs that a peer may send because it received data, such as those that measure the path. */
  private freePings = 0;
  /** Frames of the `MinorFrame` kinds that streams and content account for. */
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
    const resets = this.count("resets", nowMs);
    if (resets <= maxResetStreams) return undefined;
    return 2 * resets > (this.opened?.total(nowMs) ?? 0) ? "reset-flood" : undefined;
  }

  /** Counts a PING, or an unsolicited acknowledgement of one. */
  countPing(nowMs: number): PeerFlood | undefined {
    if (this.freePings === 0) return this.countControl("pings", nowMs);
    this.freePings--;
    return undefined;
  }

  /** Counts a SETTINGS frame, or an unsolicited acknowledgement of one. */
  countSettings(nowMs: number): PeerFlood | undefined {
    return this.countControl("settings", nowMs, maxSettingsFrames);
  }

  countMinor(kind: MinorFrame, nowMs: number): PeerFlood | undefined {
    if (this.freeFrames === 0) return this.countControl(kind, nowMs);
    this.freeFrames--;
    return undefined;
  }

  countUnknown(nowMs: number, payloadBytes: number): PeerFlood | undefined {
    for (let left = payloadBytes; left >= unknownBytesPerFrame; left -= unknownBytesPerFrame)
      this.count("unknown", nowMs);
    return this.countControl("unknown", nowMs);
  }

  /** Counts a DATA frame without content that does not end its stream. */
  countEmpty(nowMs: number): PeerFlood | undefined {
    if (!this.asServer) return this.countMinor("strays", nowMs);
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

  private countControl(kind: Counted, nowMs: number, most = maxControlFrames): PeerFlood | undefined {
    return this.count(kind, nowMs) >= most ? "control-flood" : undefined;
  }

  private count(kind: Counted, nowMs: number): number {
    const counted = (this.counts[kind] ??= new RecentCount(floodWindowMs, nowMs));
    counted.add(nowMs);
    return counted.total(nowMs);
  }
}
