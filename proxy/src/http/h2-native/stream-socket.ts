import { Duplex } from "node:stream";

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
 * the client is taken as fast as it is read, so that its window bounds what waits here.
 */
export class StreamSocket extends Duplex {
  /** Bytes in frames, besides those that wait. */
  bytesWritten = 0;
  private readonly stream: TunnelStream;
  private unreadBytes = 0;

  constructor(stream: TunnelStream) {
    super();
    this.stream = stream;
  }

  /** A piece of content, which is this socket's from now on. */
  receive(bytes: Buffer): void {
    if (this.destroyed) return this.stream.take(bytes.length);
    if (this.push(bytes)) this.stream.take(bytes.length);
    else this.unreadBytes += bytes.length;
  }

  /** The client has ended its side. */
  endOfContent(): void {
    this.push(null);
  }

  override _read(): void {
    const bytes = this.unreadBytes;
    this.unreadBytes = 0;
    if (bytes > 0) this.stream.take(bytes);
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytesWritten += bytes.length;
    this.stream.send(bytes, done);
  }

  override _final(done: () => void): void {
    this.stream.finish();
    done();
  }

  override _destroy(_error: Error | null, done: () => void): void {
    if (this.unreadBytes > 0) this.stream.take(this.unreadBytes);
    this.unreadBytes = 0;
    this.stream.release();
    done();
  }
}
