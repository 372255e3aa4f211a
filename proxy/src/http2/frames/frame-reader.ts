import { connectionPreface, errorCode, frameFlag, frameHeadBytes, frameType } from "./frame-types.ts";

/** Receives the frames that a reader finds. Each method with a result returns false to stop the reader. */
export type FrameHandler = {
  /**
   * Called with a whole frame other than DATA; its payload, `bytes` from `start` to `end`, is only valid during the
   * call.
   */
  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): boolean;
  /** Called at the start of a DATA frame of `length` octets, including padding. */
  onDataFrame(streamId: number, length: number): boolean;
  /** Called with a piece of the content of that frame: `bytes` from `start` to `end`. */
  onContent(bytes: Buffer, start: number, end: number): boolean;
  /** Called at the end of that frame; `overheadBytes` of it were padding. */
  onDataEnd(streamId: number, overheadBytes: number, endStream: boolean): boolean;
  /** Called for a frame of a type other than those of RFC 9113 and PRIORITY_UPDATE; its payload is skipped. */
  onUnknownFrame(type: number, length: number): boolean;
  /** Called on a connection error (RFC 9113 5.4.1). */
  onFault(code: number, reason: string): void;
};

/** Returns the 32-bit number at `at`. */
export const uint32At = (bytes: Uint8Array, at: number): number =>
  (((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)) >>>
  0;

const isKnown = (type: number): boolean =>
  type <= frameType.continuation || type === frameType.priorityUpdate;

const firstPartBytes = 1024;
const noBytes: Buffer = Buffer.alloc(0);

/**
 * Splits a byte stream into frames (RFC 9113 4.1). Content of DATA is passed on as it arrives. Any other frame that
 * arrives in several reads is assembled in memory that grows with the bytes received, at most one frame.
 */
export class FrameReader {
  private readonly handler: FrameHandler;
  private readonly maxFrameBytes: number;
  /** Octets of the preface that have not arrived yet. */
  private prefaceLeft: number;
  private isStopped = false;
  /** The header of the frame that is being read, if it arrives in several reads. */
  private readonly head = new Uint8Array(frameHeadBytes);
  private headHas = 0;
  /** The number of frames that have begun. */
  frames = 0;
  private type = 0;
  private flags = 0;
  private streamId = 0;
  /** Octets of the payload that have not arrived yet. */
  private payloadLeft = 0;
  private part: Buffer = noBytes;
  private partHas = 0;
  /** Content of a DATA frame that has not arrived yet; -1 until the length of the padding is known. */
  private contentLeft = 0;
  private overheadBytes = 0;

  /** With `asServer` the preface of a client is expected first. */
  constructor(
    handler: FrameHandler,
    options: { readonly asServer: boolean; readonly maxFrameBytes: number },
  ) {
    this.handler = handler;
    this.maxFrameBytes = options.maxFrameBytes;
    this.prefaceLeft = options.asServer ? connectionPreface.length : 0;
  }

  /** Whether a frame is incomplete. The content of DATA does not count, because it is passed on as it arrives. */
  get isWithinFrame(): boolean {
    return this.headHas > 0 && (this.headHas < frameHeadBytes || this.type !== frameType.data);
  }

  /** Stops reading. */
  stop(): void {
    this.isStopped = true;
    this.part = noBytes;
  }

  /** Processes the bytes of one read. */
  read(bytes: Buffer): void {
    let at = this.prefaceLeft > 0 ? this.readPreface(bytes) : 0;
    while (at < bytes.length && !this.isStopped) {
      if (this.headHas < frameHeadBytes) {
        if (this.headHas === 0 && bytes.length - at >= frameHeadBytes) {
          this.headHas = frameHeadBytes;
          at += frameHeadBytes;
          if (!this.begin(bytes, at - frameHeadBytes)) return this.stop();
        } else {
          at = this.readHead(bytes, at);
          if (this.headHas < frameHeadBytes) return;
          if (!this.begin(this.head, 0)) return this.stop();
        }
      }
      at = this.readPayload(bytes, at);
    }
  }

  private readPreface(bytes: Buffer): number {
    const from = connectionPreface.length - this.prefaceLeft;
    const length = Math.min(this.prefaceLeft, bytes.length);
    for (let i = 0; i < length; i++) {
      if (bytes[i] === connectionPreface[from + i]) continue;
      this.fail(errorCode.protocolError, "no connection preface");
      return bytes.length;
    }
    this.prefaceLeft -= length;
    return length;
  }

  /** Reads a header that arrives in several reads. */
  private readHead(bytes: Buffer, from: number): number {
    const { head } = this;
    let at = from;
    while (this.headHas < frameHeadBytes && at < bytes.length) head[this.headHas++] = bytes[at++] as number;
    return at;
  }

  /** Begins a frame with a complete header. */
  private begin(head: Uint8Array, at: number): boolean {
    const length = uint32At(head, at) >>> 8;
    this.frames++;
    const type = head[at + 3] as number;
    this.type = type;
    this.flags = head[at + 4] as number;
    // The first bit is reserved, and ignored.
    this.streamId = uint32At(head, at + 5) & 0x7fff_ffff;
    this.payloadLeft = length;
    if (length > this.maxFrameBytes) {
      return this.fail(errorCode.frameSizeError, "frame larger than announced");
    }
    if (type === frameType.data) return this.beginData(length);
    if (!isKnown(type) && !this.handler.onUnknownFrame(type, length)) return false;
    if (length === 0) this.endFrame(noBytes, 0);
    return true;
  }

  private beginData(length: number): boolean {
    const isPadded = (this.flags & frameFlag.padded) !== 0;
    if (isPadded && length === 0) return this.fail(errorCode.frameSizeError, "no length of padding");
    if (!this.handler.onDataFrame(this.streamId, length)) return false;
    this.contentLeft = isPadded ? -1 : length;
    this.overheadBytes = 0;
    if (length === 0) this.endData();
    return true;
  }

  private readPayload(bytes: Buffer, from: number): number {
    if (this.payloadLeft === 0 || from === bytes.length) return from;
    if (this.type === frameType.data) return this.readData(bytes, from);
    const length = Math.min(this.payloadLeft, bytes.length - from);
    const end = from + length;
    this.payloadLeft -= length;
    if (!isKnown(this.type)) {
      if (this.payloadLeft === 0) this.headHas = 0;
    } else if (this.partHas > 0 || this.payloadLeft > 0) {
      this.keep(bytes, from, end);
      if (this.payloadLeft === 0) {
        const { part, partHas } = this;
        this.part = noBytes;
        this.partHas = 0;
        this.endFrame(part, partHas);
      }
    } else this.deliver(bytes, from, end);
    return end;
  }

  private keep(bytes: Buffer, from: number, end: number): void {
    const has = this.partHas + end - from;
    if (has > this.part.length) {
      const most = has + this.payloadLeft;
      const larger = Buffer.allocUnsafeSlow(Math.min(most, Math.max(firstPartBytes, 2 * has)));
      this.part.copy(larger, 0, 0, this.partHas);
      this.part = larger;
    }
    bytes.copy(this.part, this.partHas, from, end);
    this.partHas = has;
  }

  private endFrame(payload: Buffer, length: number): void {
    if (isKnown(this.type)) this.deliver(payload, 0, length);
    else this.headHas = 0;
  }

  private deliver(bytes: Buffer, start: number, end: number): void {
    this.headHas = 0;
    if (!this.handler.onFrame(this.type, this.flags, this.streamId, bytes, start, end)) this.stop();
  }

  private readData(bytes: Buffer, from: number): number {
    let at = from;
    if (this.contentLeft < 0) {
      const padding = bytes[at++] as number;
      this.payloadLeft--;
      if (padding > this.payloadLeft) {
        this.fail(errorCode.protocolError, "padding longer than its frame");
        return at;
      }
      this.contentLeft = this.payloadLeft - padding;
      this.overheadBytes = 1 + padding;
    }
    const content = Math.min(this.contentLeft, bytes.length - at);
    if (content > 0) {
      this.contentLeft -= content;
      this.payloadLeft -= content;
      if (!this.handler.onContent(bytes, at, at + content)) {
        this.stop();
        return bytes.length;
      }
      at += content;
    }
    if (this.contentLeft === 0) {
      const padding = Math.min(this.payloadLeft, bytes.length - at);
      this.payloadLeft -= padding;
      at += padding;
    }
    if (this.payloadLeft === 0) this.endData();
    return at;
  }

  private endData(): void {
    this.headHas = 0;
    const endStream = (this.flags & frameFlag.endStream) !== 0;
    if (!this.handler.onDataEnd(this.streamId, this.overheadBytes, endStream)) this.stop();
  }

  private fail(code: number, reason: string): false {
    this.stop();
    this.handler.onFault(code, reason);
    return false;
  }
}
