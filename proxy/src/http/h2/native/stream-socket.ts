import { Duplex } from "node:stream";
import { HeldContent } from "../../../http2/connection/held-content.ts";

/** The stream that carries a tunnel. */
export type TunnelStream = {
  /** Called when `bytes` from the client have been read; renews the windows. */
  take(bytes: number): void;
  /** Sends bytes; `done` is called when they are in frames, so that they count as waiting until then. */
  send(bytes: Buffer, done: () => void): void;
  /** Ends the direction towards the client. */
  finish(): void;
  /** Called when the tunnel is closed, whether or not both sides have ended. */
  release(): void;
};

/**
 * The content of a stream in both directions, in the form of the socket that a WebSocket upgrade has on HTTP/1.1 (RFC
 * 8441 5). Windows are renewed as content of the client is read. Unread content waits in one buffer, however small its
 * frames were, and is limited by the window.
 */
export class StreamSocket extends Duplex {
  /** Bytes passed to the stream, like the counter of a socket. */
  bytesWritten = 0;
  private readonly stream: TunnelStream;
  private readonly held = new HeldContent();
  /** True if the reader has requested more. */
  private isAsked = false;
  private hasEnded = false;

  constructor(stream: TunnelStream) {
    // Unread content waits in `held`, not in the buffer of the Duplex.
    super({ readableHighWaterMark: 1 });
    this.stream = stream;
  }

  /** Receives a piece of content that is only valid during the call. */
  receive(bytes: Buffer): void {
    if (this.destroyed) this.stream.take(bytes.length);
    else if (this.isAsked) this.pass(Buffer.from(bytes));
    else this.held.add(bytes);
  }

  /** Called when the client has ended its side. */
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
