/** Frames in which a block may go on: more of them say nothing (docs/features/http2.md, "Abuse protection"). */
const maxContinuations = 8;

const noBytes: Buffer = Buffer.alloc(0);

/** A header block that comes in more than one frame (RFC 9113 4.3), put together up to what nine frames can hold. */
export class HeaderBlock {
  isOpen = false;
  streamId = 0;
  /** Of the HEADERS frame. */
  flags = 0;
  /** The HEADERS frame makes its stream depend on itself. */
  dependsOnItself = false;
  private parts: Buffer[] = [];

  begin(streamId: number, flags: number, bytes: Buffer, start: number, end: number): void {
    this.isOpen = true;
    this.streamId = streamId;
    this.flags = flags;
    this.parts = [Buffer.from(bytes.subarray(start, end))];
  }

  /** False: the block goes on for too long. */
  add(bytes: Buffer, start: number, end: number): boolean {
    if (this.parts.length > maxContinuations) return false;
    this.parts.push(start === end ? noBytes : Buffer.from(bytes.subarray(start, end)));
    return true;
  }

  /** The whole block. */
  finish(): Buffer {
    const { parts } = this;
    this.isOpen = false;
    this.parts = [];
    return Buffer.concat(parts);
  }
}
