import { uint32At } from "../frames/frame-reader.ts";
import type { FrameFault } from "../frames/control-frames.ts";
import { errorCode, frameFlag, frameType } from "../frames/frame-types.ts";

/** The most CONTINUATION frames of a block; more serve no purpose (docs/features/http2.md, "Abuse protection"). */
const maxContinuations = 8;

const missingPriority: FrameFault = {
  code: errorCode.frameSizeError,
  reason: "HEADERS without their priority",
};
const badPadding: FrameFault = { code: errorCode.protocolError, reason: "padding longer than its frame" };

const noBytes: Buffer = Buffer.alloc(0);

/** A header block, assembled if it arrives in more than one frame (RFC 9113 4.3), up to nine frames. */
export class HeaderBlock {
  isOpen = false;
  streamId = 0;
  /** The flags of the HEADERS frame. */
  flags = 0;
  /** True if the HEADERS frame makes its stream depend on itself. */
  dependsOnItself = false;
  /** The position of the block in its frame. */
  start = 0;
  end = 0;
  private parts: Buffer[] = [];

  /** Locates the block between padding and priority of HEADERS (RFC 9113 6.2); returns a connection error, if any. */
  find(streamId: number, flags: number, bytes: Buffer, from: number, to: number): FrameFault | undefined {
    let start = from;
    let end = to;
    if ((flags & frameFlag.padded) !== 0) {
      end -= start < end ? (bytes[start] as number) : 1;
      start++;
    }
    this.dependsOnItself = false;
    if ((flags & frameFlag.priority) !== 0) {
      if (start + 5 > to) return missingPriority;
      this.dependsOnItself = (uint32At(bytes, start) & 0x7fff_ffff) === streamId;
      start += 5;
    }
    this.start = start;
    this.end = end;
    return start > end ? badPadding : undefined;
  }

  /** Begins a block of which `find` has located the first part, and which continues in other frames. */
  begin(streamId: number, flags: number, bytes: Buffer): void {
    this.isOpen = true;
    this.streamId = streamId;
    this.flags = flags;
    this.parts = [Buffer.from(bytes.subarray(this.start, this.end))];
  }

  /** Reports whether a frame is allowed now: a block must not be interrupted, and nothing else can be continued. */
  allows(type: number, streamId: number): boolean {
    const isContinuation = type === frameType.continuation;
    return this.isOpen ? isContinuation && streamId === this.streamId : !isContinuation;
  }

  /** Adds a part; returns false if the block has too many. */
  add(bytes: Buffer, start: number, end: number): boolean {
    if (this.parts.length > maxContinuations) return false;
    this.parts.push(start === end ? noBytes : Buffer.from(bytes.subarray(start, end)));
    return true;
  }

  /** Returns the whole block. */
  finish(): Buffer {
    const { parts } = this;
    this.isOpen = false;
    this.parts = [];
    return Buffer.concat(parts);
  }
}
