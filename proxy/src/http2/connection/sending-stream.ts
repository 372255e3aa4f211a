import type { Chunk, HeaderList } from "../../message/message.ts";
import { copyOf } from "../../sockets/copy-of.ts";
import { initialFrameBytes } from "../frames/frame-types.ts";
import { ordinaryUrgency, type Priority } from "../priority.ts";
import { ContentQueue } from "./content-queue.ts";
import { KeptContent } from "./kept-content.ts";

/** The most content of a frame, even if the peer accepts more, because streams take turns by frames. */
export const maxContentBytes = initialFrameBytes;

/** The size from which bytes are copied into reused memory; smaller ones are copied into new memory. */
const minKeptBytes = 4096;

/**
 * The sending half of a stream: a head, content in order, and an end, which wait here until the windows of the peer and
 * the socket have room for them.
 */
export abstract class SendingStream {
  /** The stream id; 0 until it is set. A stream that this end opens gets it with its head, so that ids are in order. */
  id: number;
  /** The bytes that the peer still accepts; negative after it has reduced its windows (RFC 9113 6.9.2). */
  sendWindow: number;
  /** True once END_STREAM has been put into a frame. */
  localEnded = false;
  /** True once neither side may send any more. */
  isClosed = false;
  /** True while the stream is queued in the `Sender`. */
  isQueued = false;
  /** The urgency, from 0 (sent first) to 7 (RFC 9218 4.1). */
  urgency: number = ordinaryUrgency;
  /** True if the stream shares with others of its urgency, after those that are sent sequentially (RFC 9218 10). */
  takesTurns = true;
  /** Bytes of content that were handed over and are not in a frame yet. */
  heldBytes = 0;
  /** Bytes of content that were put into frames. */
  framedBytes = 0;
  /** True once the last content was handed over; `trailers` follow it. */
  protected isComplete = false;
  protected trailers: HeaderList | undefined = undefined;
  /** Copies of content, which are sent before `first`. */
  private kept: KeptContent | undefined = undefined;
  private first: Chunk | undefined = undefined;
  /** The bytes of `first` that are already in frames. */
  private offset = 0;
  private others: ContentQueue | undefined = undefined;

  constructor(id: number, sendWindow: number) {
    this.id = id;
    this.sendWindow = sendWindow;
  }

  /** Whether a head waits to be sent. */
  abstract get hasHead(): boolean;
  /** The most octets of the block of that head. */
  abstract get maxHeadBytes(): number;
  /** Writes that block, which then counts as sent. */
  abstract putHead(into: Buffer, at: number): number;
  /** Called when that block is in a frame. */
  abstract onHeadFramed(): void;
  abstract get maxTrailerBytes(): number;
  abstract putTrailers(into: Buffer, at: number): number;
  /** Called when END_STREAM has been put into a frame. */
  abstract onLocalEnd(): void;
  /** Called when all content that was handed over is in frames. */
  abstract onAllFramed(): void;

  /** Sets the priority. Streams without one share with all others of the ordinary urgency. */
  prioritise({ urgency, incremental }: Priority): void {
    this.urgency = urgency;
    this.takesTurns = incremental;
  }

  /** Whether the stream has the default priority. */
  get isOrdinary(): boolean {
    return this.takesTurns && this.urgency === ordinaryUrgency;
  }

  /** Whether everything was handed over, and only the end of the stream is missing in frames. */
  get endsNow(): boolean {
    return this.isComplete && this.heldBytes === 0;
  }

  /** Whether the stream ends with its last content. */
  get endsAfterContent(): boolean {
    return this.isComplete && this.trailers === undefined;
  }

  get hasTrailers(): boolean {
    return this.trailers !== undefined;
  }

  protected hold(chunk: Chunk): void {
    this.heldBytes += chunk.length;
    if (this.first === undefined) this.first = chunk;
    else {
      this.others ??= new ContentQueue();
      this.others.add(chunk);
    }
  }

  /** Holds bytes whose memory is about to be overwritten. */
  protected holdCopy(bytes: Buffer): void {
    if (this.first !== undefined || bytes.length < minKeptBytes) {
      return this.hold(copyOf(bytes, 0, bytes.length));
    }
    this.heldBytes += bytes.length;
    this.keep(bytes, 0);
  }

  /** Copies the rest of the only piece that is held, because its memory is about to be overwritten. */
  protected keepFirst(): void {
    const { first, offset } = this;
    if (first === undefined || typeof first === "string") return;
    this.shift();
    this.keep(first, offset);
  }

  private keep(bytes: Buffer, from: number): void {
    this.kept ??= new KeptContent();
    this.kept.add(bytes, from);
  }

  protected dropContent(): void {
    this.heldBytes = 0;
    this.kept?.drop();
    this.first = undefined;
    this.others = undefined;
    this.offset = 0;
  }

  /** Copies the next `length` octets of content, which must be available. */
  takeContent(into: Buffer, at: number, length: number): void {
    let next = at;
    let left = length;
    while (left > 0) {
      const taken = this.kept?.take(into, next, left) || this.takeOfFirst(into, next, left);
      next += taken;
      left -= taken;
    }
    this.heldBytes -= length;
    this.framedBytes += length;
  }

  private takeOfFirst(into: Buffer, at: number, most: number): number {
    let chunk = this.first as Chunk;
    if (typeof chunk === "string") {
      if (chunk.length <= most) {
        const { length } = chunk;
        into.write(chunk, at, "latin1");
        this.shift();
        return length;
      }
      chunk = Buffer.from(chunk, "latin1");
      this.first = chunk;
    }
    const length = Math.min(most, chunk.length - this.offset);
    chunk.copy(into, at, this.offset, this.offset + length);
    this.offset += length;
    if (this.offset === chunk.length) this.shift();
    return length;
  }

  private shift(): void {
    this.offset = 0;
    this.first = this.others?.shift();
    if (this.first === undefined) this.others = undefined;
  }
}
