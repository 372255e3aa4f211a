import { Duplex } from "node:stream";
import { HeldContent } from "../../../http2/connection/held-content.ts";

/** The stream that a tunnel runs on. */
export type TunnelStream = {
  /** `bytes` that came from the client have been read. */
  take(bytes: number): void;
  /** Calls back when the bytes are in frames, so that they count as waiting until then. */
  send(bytes: Buffer, done: () => void): void;
  /** Nothing more is sent. */
  finish(): void;
  /** The tunnel is over, with or without the end of both sides. */
  release(): void;
};

/**
 * The content of a stream both ways, as the socket that a WebSocket upgrade would have had on HTTP/1.1 (RFC 8441 5). Content of
 * the client is taken as it is read; what is not read waits in one piece, however small the frames were that brought it, and
 * its window bounds it.
 */
export class StreamSocket extends Duplex {
  /** Bytes in frames, besides those that wait. */
  bytesWritten = 0;
  private readonly stream: TunnelStream;
  private readonly held = new HeldContent();
  /** The reader has asked for more. */
  private isAsked = false;
  private hasEnded = false;

  constructor(stream: TunnelStream) {
    // What waits to be read waits here.
    super({ readableHighWaterMark: 1 });
    this.stream = stream;
  }

  /** A piece of content, good until this returns. */
  receive(bytes: Buffer): void {
    if (this.destroyed) this.stream.take(bytes.length);
    else if (this.isAsked) this.pass(Buffer.from(bytes));
    else this.held.add(bytes);
  }

  /** The client has ended its side. */
  endOfContent(): void {
    this.hasEnded = true;
    if (this.held.bytes === 0) this.push(null);
  }

  override _read(): void {
    if (this.held.bytes === 0) this.isAsked = true;
    else this.pass(this.held.take());
  }

  private pass(bytes: Buffer): void {
    this.isAsked = false;
    this.stream.take(bytes.length);
    this.push(bytes);
    if (this.hasEnded && this.held.bytes === 0) this.push(null);
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (bytes.length === 0) return done();
    this.bytesWritten += bytes.length;
    this.stream.send(bytes, done);
  }

  override _final(done: () => void): void {
    this.stream.finish();
    done();
  }

  override _destroy(_error: Error | null, done: () => void): void {
    if (this.held.bytes > 0) this.stream.take(this.held.drop());
    this.stream.release();
    done();
  }
}
