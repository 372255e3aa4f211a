import type { OnReadOpts, Socket } from "node:net";
import type { Chunk, HeaderList, ResponseHead } from "../../message/message.ts";
import { ReadBuffer } from "../../sockets/read-buffer.ts";
import { abandon, connectEndpoint, type ConnectAttempt, type UpstreamClientOptions } from "../connect.ts";
import { isTlsFault } from "../upstream-errors.ts";
import type { IdleConnection } from "../idle-pool.ts";
import type { UpstreamEndpoint } from "../upstream.ts";
import type { ConnectionPool } from "./pool.ts";
import { type ResponseEvents, ResponseReader } from "./response-reader.ts";
import type { Http1Stream } from "./stream.ts";

/** What the connections of one client share. */
export type ConnectionContext = {
  readonly pool: ConnectionPool;
  readonly options: UpstreamClientOptions;
  /** Every connection that is neither closed nor handed over. */
  readonly open: Set<Http1Connection>;
  /** The client has been closed: no more connections are opened. */
  closed: boolean;
};

/**
 * One connection to an endpoint. It serves one stream at a time; between two it is idle in the pool, where any
 * byte or end of the peer closes it.
 */
export class Http1Connection implements IdleConnection, ResponseEvents {
  readonly endpoint: UpstreamEndpoint;
  /** IP address of the peer, empty until the connection is up. */
  address = "";
  private readonly context: ConnectionContext;
  private readonly reader: ResponseReader;
  private attempt: ConnectAttempt | undefined = undefined;
  private socket: Socket | undefined = undefined;
  private stream: Http1Stream | undefined = undefined;
  private paused = false;

  constructor(endpoint: UpstreamEndpoint, context: ConnectionContext) {
    this.endpoint = endpoint;
    this.context = context;
    this.reader = new ResponseReader(this);
    context.open.add(this);
  }

  /** How long the peer allows it to be idle, in milliseconds, less a margin; undefined: not announced. */
  get announcedIdleMs(): number | undefined {
    return this.reader.announcedIdleMs;
  }

  /** False once either side has begun to close. */
  get usable(): boolean {
    return this.socket?.writable === true;
  }

  /**
   * Connects for a stream, and reports the outcome to it. A connection that may be upgraded reads through the socket's
   * own events, so that it can be handed over as a stream.
   */
  open(stream: Http1Stream): void {
    const toUpgrade = stream.request.upgrade !== undefined;
    this.stream = stream;
    this.attempt = connectEndpoint(
      this.endpoint,
      {
        ...this.context.options,
        alpn: "http/1.1",
        limitMs: stream.request.connectTimeoutMs,
        ...(toUpgrade ? { allowHalfOpen: true } : { onread: this.readInto() }),
      },
      (result) => {
        this.attempt = undefined;
        if (!result.ok) {
          this.destroy();
          stream.connectFailed(result.error);
          return;
        }
        this.attach(result.value.socket, result.value.address);
        if (toUpgrade) result.value.socket.on("data", this.onPiece);
        stream.connected(this);
      },
    );
  }

  private attach(socket: Socket, address: string): void {
    this.socket = socket;
    this.address = address;
    socket.on("drain", this.onDrain);
    socket.on("end", this.onEnd);
    socket.on("error", this.onError);
    socket.on("close", this.onClose);
  }

  private readonly onDrain = (): void => this.stream?.drained();
  private readonly onEnd = (): void => this.reader.end();
  private readonly onError = ({ code }: NodeJS.ErrnoException): void =>
    isTlsFault(code) ? this.fail("upstream broke off TLS", "tls") : this.fail("upstream reset");
  private readonly onClose = (): void => this.fail("upstream closed");

  private readInto(): OnReadOpts {
    const memory = new ReadBuffer();
    const { reader } = this;
    return memory.onread((piece) => {
      const handler = this.stream?.handler;
      const more = reader.read(piece);
      this.paused = !more;
      const { announcedBytes } = reader;
      if (announcedBytes === undefined) memory.reset(handler?.pendingBytes);
      else if (handler?.copies === true) memory.stayShared(more, handler.roomBytes);
      else memory.settle(announcedBytes, handler?.pendingBytes, more, handler?.roomBytes);
      return more;
    });
  }

  private readonly onPiece = (bytes: Buffer): void => {
    this.paused = !this.reader.read({ owned: true, bytes });
    if (this.paused) this.socket?.pause();
  };

  /** Makes the connection the stream's; the socket is for its request. */
  begin(stream: Http1Stream, toHead: boolean): Socket {
    if (this.socket === undefined) throw new Error("a stream was begun on a connection that is not up");
    this.stream = stream;
    this.reader.begin({ toHead, upgrade: stream.request.upgrade });
    return this.socket;
  }

  /** Reads on after `onData` answered false. */
  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.socket?.resume();
  }

  get copies(): boolean {
    return this.stream?.handler.copies === true;
  }

  onInformational(status: number, headers: HeaderList): void {
    this.stream?.informational(status, headers);
  }

  onHead(head: ResponseHead, keepAlive: boolean): void {
    this.stream?.finalHead(head, keepAlive);
  }

  onData(chunk: Chunk): boolean {
    return this.stream?.handler.onData(chunk) ?? false;
  }

  onComplete(trailers: HeaderList | undefined, reusable: boolean): void {
    const { stream } = this;
    if (stream === undefined) return;
    this.stream = undefined;
    const { upgrade, closes } = stream.request;
    const keep = reusable && stream.requestComplete && upgrade === undefined && closes !== true;
    // Back in the pool first: the handler may send the next request at once.
    if (!keep || !this.context.pool.release(this)) this.destroy();
    stream.complete(trailers);
  }

  onUpgrade(headers: HeaderList, rest: Buffer): void {
    const { stream, socket } = this;
    if (stream === undefined || socket === undefined) return;
    this.stream = undefined;
    this.socket = undefined;
    this.context.open.delete(this);
    socket.pause();
    socket.off("data", this.onPiece).off("drain", this.onDrain).off("end", this.onEnd);
    socket.off("error", this.onError).off("close", this.onClose);
    stream.upgraded(headers, socket, rest);
  }

  onInvalid(text: string): void {
    const { stream } = this;
    this.destroy();
    stream?.invalid(text);
  }

  onTruncated(): void {
    this.fail("upstream closed");
  }

  /** Ends the connection and fails the stream on it. */
  fail(text: string, kind: "reset" | "tls" = "reset"): void {
    const { stream } = this;
    const { answered } = this.reader;
    this.destroy();
    stream?.lost({ kind, text }, answered);
  }

  closeIdle(): void {
    this.destroy();
  }

  /** Destroys the connection at once, without an event to the stream on it. */
  destroy(): void {
    if (!this.context.open.delete(this)) return;
    this.stream = undefined;
    this.reader.stop();
    this.attempt?.cancel();
    if (this.socket === undefined) return;
    this.context.pool.forget(this);
    abandon(this.socket);
  }
}
