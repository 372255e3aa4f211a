import { type Flood, floodWindowMs, maxControlFrames, maxResetStreams } from "../flood-limits.ts";
import { RecentCount } from "../recent-count.ts";

/** A peer that goes by its own SETTINGS sends them once. */
const maxSettingsFrames = 200;
/** Empty DATA frames, and malformed messages, within the time of the other limits. */
const maxEmptyFrames = 100;
/** What a client may send for free because it opened a stream: priorities and windows of it. */
const framesPerStream = 8;
/** What it may send for free because it received content: as many frames as many small windows ask for. */
const framesPerContent = 4;
const contentBytesPerFrame = 256;
/** Most frames that are free at a time. */
const maxFreeFrames = 10_000;
/** A frame of an unknown type counts once more for as many octets. */
const unknownBytesPerFrame = 1024;

export type PeerFlood = Flood | "frame-flood";

/** What streams and content explain, up to a number: WINDOW_UPDATE, both kinds of priorities, and what comes for a stream that is over. */
export type MinorFrame = "windows" | "priorities" | "strays";

type Counted = MinorFrame | "resets" | "pings" | "settings" | "unknown" | "empty" | "faults";

/**
 * Counts what a peer does without asking for anything, frame by frame, each with a limit in ten seconds
 * (docs/features/http2.md, "Abuse protection"). Methods answer what is a flood, else undefined. Times are
 * milliseconds on one clock.
 */
export class FrameGuard {
  private readonly asServer: boolean;
  private readonly counts: { [Kind in Counted]?: RecentCount } = {};
  /** Streams, which are counted for each request. */
  private opened: RecentCount | undefined = undefined;
  /** PINGs that a peer may send because it received data, as those do that measure the path. */
  private freePings = 0;
  /** Windows, priorities and the like that streams and content explain. */
  private freeFrames = 0;

  /** Without `asServer` the peer is a server. What breaks streams costs it requests that it was sent, and is no flood. */
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

  /** A stream ended for the peer before its response did. One who cancels some of many requests is no flood. */
  countReset(nowMs: number): PeerFlood | undefined {
    if (!this.asServer) return undefined;
    const resets = this.count("resets", nowMs);
    if (resets <= maxResetStreams) return undefined;
    return 2 * resets > (this.opened?.total(nowMs) ?? 0) ? "reset-flood" : undefined;
  }

  /** PING, or an acknowledgement of none. */
  countPing(nowMs: number): PeerFlood | undefined {
    if (this.freePings === 0) return this.countControl("pings", nowMs);
    this.freePings--;
    return undefined;
  }

  /** SETTINGS, or an acknowledgement of none. */
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

  /** DATA without content that ends nothing. */
  countEmpty(nowMs: number): PeerFlood | undefined {
    if (!this.asServer) return this.countMinor("strays", nowMs);
    return this.count("empty", nowMs) > maxEmptyFrames ? "frame-flood" : undefined;
  }

  /** A malformed message. */
  countFault(nowMs: number): PeerFlood | undefined {
    if (!this.asServer) return undefined;
    return this.count("faults", nowMs) > maxEmptyFrames ? "frame-flood" : undefined;
  }

  /** Content goes out: the peer will open windows again, and may measure the path. */
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
