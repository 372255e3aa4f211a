import type { Chunk, HeaderList } from "../../message/message.ts";
import { copyOf } from "../../sockets/copy-of.ts";
import { initialFrameBytes } from "../frames/frame-types.ts";
import { ordinaryUrgency, type Priority } from "../priority.ts";
import { ContentQueue } from "./content-queue.ts";
import { KeptContent } from "./kept-content.ts";

/** Most content of a frame, even when the peer would take more: streams take turns by frames. */
export const maxContentBytes = initialFrameBytes;

/** Less is copied into memory of its own. */
const minKeptBytes = 4096;

/**
 * The sending half of a stream: a head, content in order, and an end, which wait here until the windows of the peer and the
 * socket have room for them.
 */
export abstract class SendingStream {
  /** 0: not numbered yet. One that this end opens gets its number with its head, so that numbers go out in their order. */
  id: number;
  /** What the peer still takes; below zero after it has made its windows smaller (RFC 9113 6.9.2). */
  sendWindow: number;
  /** END_STREAM has been sent. */
  localEnded = false;
  /** Neither side sends any more. */
  isClosed = false;
  /** Among those that will be asked for frames. */
  isQueued = false;
  /** From 0, which goes first, to 7 (RFC 9218 4.1). */
  urgency: number = ordinaryUrgency;
  /** It shares with others of its urgency, and goes after those that are to be sent one after the other (RFC 9218 10). */
  takesTurns = true;
  /** Content that was handed over and is in no frame. */
  heldBytes = 0;
  /** Content that was put into frames. */
  framedBytes = 0;
  /** The last content was handed over; `trailers` follow it. */
  protected isComplete = false;
  protected trailers: HeaderList | undefined = undefined;
  /** Copies, which go before `first`. */
  private kept: KeptContent | undefined = undefined;
  private first: Chunk | undefined = undefined;
  /** How much of `first` has been sent. */
  private offset = 0;
  private others: ContentQueue | undefined = undefined;

  constructor(id: number, sendWindow: number) {
    this.id = id;
    this.sendWindow = sendWindow;
  }

  /** A head waits to be sent. */
  abstract get hasHead(): boolean;
  /** Most octets of the block of that head. */
  abstract get maxHeadBytes(): number;
  /** Writes that block. It counts as sent. */
  abstract putHead(into: Buffer, at: number): number;
  /** That block is in a frame. */
  abstract onHeadFramed(): void;
  abstract get maxTrailerBytes(): number;
  abstract putTrailers(into: Buffer, at: number): number;
  /** END_STREAM has just been put into a frame. */
  abstract onLocalEnd(): void;
  /** All content that was handed over is in frames. */
  abstract onAllFramed(): void;

  /** Those that say nothing share with all others of the ordinary urgency. */
  prioritise({ urgency, incremental }: Priority): void {
    this.urgency = urgency;
    this.takesTurns = incremental;
  }

  /** Nothing was said about it. */
  get isOrdinary(): boolean {
    return this.takesTurns && this.urgency === ordinaryUrgency;
  }

  /** Everything was handed over, and is in frames but for what only ends the stream. */
  get endsNow(): boolean {
    return this.isComplete && this.heldBytes === 0;
  }

  /** The last content is the end of the stream. */
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

  /** The same of bytes whose memory is about to be written over. */
  protected holdCopy(bytes: Buffer): void {
    if (this.first !== undefined || bytes.length < minKeptBytes) {
      return this.hold(copyOf(bytes, 0, bytes.length));
    }
    this.heldBytes += bytes.length;
    this.keep(bytes, 0);
  }

  /** Copies what is left of the only piece that is held: its memory is about to be written over. */
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

  /** Copies the next `length` octets of content, of which there must be as many. */
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
