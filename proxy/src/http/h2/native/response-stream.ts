import { Http2Stream } from "../../../http2/connection/stream.ts";
import { maxFieldsBytes, maxHeadBytes, putFields } from "../../../http2/hpack/field-block.ts";
import type { Chunk, HeaderList, ResponseHead } from "../../../message/message.ts";
import type { StoppableReader } from "../../response-memory.ts";
import { roomBytes } from "../../response-room.ts";
import { putInformational, putResponseHead } from "./response-block.ts";
import type { StreamHost } from "./stream-host.ts";

/**
 * The number of waiting bytes that are sent, as far as possible, and counted immediately; fewer wait for the end of the
 * turn.
 */
export const minCountedBytes = 16_384;
/** A smaller buffer is copied and waits. A larger one is put into frames immediately if no other content waits. */
const minFramedBytes = 4096;
/** The number of waiting bytes at which no more content is accepted. */
const maxHeldBytes = 65_536;

/** A status without content (RFC 9110 15.3.6), even if an upstream has declared a length. */
const resetContent = 205;
const contentLength: ReadonlySet<string> = new Set(["content-length"]);

/**
 * The response on a stream. The parts that arrive within a turn are sent together at its end: a complete message as
 * HEADERS and one final DATA, or as HEADERS alone (gRPC's trailers-only form).
 */
export abstract class ResponseStream extends Http2Stream implements StoppableReader {
  headSent = false;
  bytesSent = 0;
  onHeadSent: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  protected abstract readonly connection: Pick<StreamHost<never>, "sender" | "memory" | "countSent">;
  private readonly isHead: boolean;
  /** True once a final head was handed over; `head` holds it until it is in a frame. */
  protected headTaken = false;
  protected head: ResponseHead | undefined = undefined;
  private bodyless = false;
  /** Declared length of the content; undefined if unknown or without content. */
  private length: number | undefined = undefined;
  private awaitsDrain = false;
  awaitsRoom = false;

  constructor(id: number, windows: { readonly send: number; readonly receive: number }, isHead: boolean) {
    super(id, windows.send, windows.receive);
    this.isHead = isHead;
  }

  /** Aborts a response that does not match its head, so that the client sees the failure. */
  protected abstract breakOff(): void;
  /** Updates the count of bytes that wait for the client. */
  abstract countWaiting(): void;
  /** Called when all content that was handed over is in frames. */
  protected abstract onContentFramed(): void;

  sendInformational(status: number, headers: HeaderList): void {
    if (this.isClosed || this.headTaken) return;
    this.connection.sender.sendBlock(this, maxFieldsBytes(headers), (into, at) =>
      putInformational(into, at, status, headers),
    );
  }

  sendHead(head: ResponseHead): void {
    if (this.isClosed || this.headTaken) return;
    const { status } = head;
    this.headTaken = true;
    this.bodyless =
      head.bodyless || this.isHead || status === 204 || status === 304 || status === resetContent;
    this.length = this.bodyless ? undefined : head.length;
    if (status === resetContent) head.headers.remove(contentLength);
    this.head = head;
    this.connection.sender.schedule(this);
  }

  takeBack(): void {
    if (this.isClosed || this.isComplete || this.head === undefined) return;
    this.headTaken = false;
    this.head = undefined;
    this.bytesSent = 0;
    this.dropContent();
  }

  write(chunk: Chunk): boolean {
    if (this.isClosed || this.isComplete || this.bodyless || chunk.length === 0) return true;
    this.bytesSent += chunk.length;
    if (this.length !== undefined && this.bytesSent > this.length) {
      this.breakOff();
      return true;
    }
    const { sender } = this.connection;
    this.connection.countSent(chunk.length);
    const isLent = typeof chunk !== "string" && chunk.length >= minFramedBytes && this.heldBytes === 0;
    if (typeof chunk === "string" || isLent) this.hold(chunk);
    else this.holdCopy(chunk);
    if (this.heldBytes < minCountedBytes && !isLent) {
      sender.schedule(this);
      return this.connection.memory.admit(this);
    }
    sender.sendNow(this);
    if (isLent && this.heldBytes > 0) this.keepFirst();
    if (this.heldBytes >= minCountedBytes) this.countWaiting();
    if (this.heldBytes < maxHeldBytes) return this.connection.memory.admit(this);
    this.awaitsDrain = true;
    return false;
  }

  get pendingBytes(): number {
    return this.heldBytes;
  }

  get copies(): boolean {
    return true;
  }

  get roomBytes(): number {
    return roomBytes(this.heldBytes);
  }

  end(trailers: HeaderList | undefined): void {
    if (this.isClosed || this.isComplete) return;
    if (this.length !== undefined && this.bytesSent < this.length) return this.breakOff();
    this.isComplete = true;
    if (!this.bodyless && trailers !== undefined && trailers.length > 0) this.trailers = trailers;
    this.connection.sender.schedule(this);
    // Reported early: the head can no longer be withdrawn, and the exchange is about to end.
    if (this.head !== undefined) this.onHeadFramed();
  }

  onAllFramed(): void {
    this.onContentFramed();
    if (!this.awaitsDrain) return;
    this.awaitsDrain = false;
    if (this.connection.memory.admit(this)) this.onDrain?.();
  }

  onRoom(): void {
    this.onDrain?.();
  }

  get hasHead(): boolean {
    return this.head !== undefined;
  }

  get maxHeadBytes(): number {
    return this.head === undefined ? 0 : maxHeadBytes(this.head.headers);
  }

  putHead(into: Buffer, at: number): number {
    const { head } = this;
    if (head === undefined) return at;
    this.head = undefined;
    return putResponseHead(into, at, head);
  }

  onHeadFramed(): void {
    if (this.headSent) return;
    this.headSent = true;
    this.onHeadSent?.();
  }

  get maxTrailerBytes(): number {
    return maxFieldsBytes(this.trailers ?? []);
  }

  putTrailers(into: Buffer, at: number): number {
    return putFields(into, at, this.trailers ?? []);
  }
}
