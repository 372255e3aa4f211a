import type { Fields } from "../../message/fields.ts";
import type { Chunk, HeaderList, ResponseHead } from "../../message/message.ts";
import { type Piece, ReadBuffer } from "../../sockets/read-buffer.ts";
import type { Transport, TransportReceiver } from "../../sockets/transport.ts";
import { connectEndpoint, type ConnectAttempt } from "../connect/connect-endpoint.ts";
import type { UpstreamClientOptions } from "../connect/options.ts";
import { isTlsFault } from "../upstream-errors.ts";
import type { IdleConnection } from "../idle-pool.ts";
import type { UpstreamEndpoint } from "../upstream.ts";
import type { ConnectionPool, EndpointConnections } from "./pool.ts";
import { type ResponseEvents, ResponseReader } from "./response-reader.ts";
import type { Http1Stream } from "./stream.ts";

/** State shared by the connections of one client. */
export type ConnectionContext = {
  readonly pool: ConnectionPool;
  readonly options: UpstreamClientOptions;
  /** Every connection that is neither closed nor handed over to a tunnel. */
  readonly open: Set<Http1Connection>;
  /** Whether the client has been closed and opens no more connections. */
  closed: boolean;
};

/**
 * One connection to an endpoint. It serves one stream at a time. Between two streams it is idle in the pool, where any
 * data from the peer, or its end, closes the connection.
 */
export class Http1Connection implements IdleConnection, ResponseEvents, TransportReceiver {
  readonly endpoint: UpstreamEndpoint;
  /** State shared with the other connections to the endpoint. */
  readonly siblings: EndpointConnections;
  /** IP address of the peer, empty until the connection is up. */
  address = "";
  private readonly context: ConnectionContext;
  private readonly reader: ResponseReader;
  private attempt: ConnectAttempt | undefined = undefined;
  private transport: Transport | undefined = undefined;
  private readonly memory = new ReadBuffer();
  private stream: Http1Stream | undefined = undefined;
  private paused = false;

  constructor(endpoint: UpstreamEndpoint, context: ConnectionContext) {
    this.endpoint = endpoint;
    this.siblings = context.pool.connectionsOf(endpoint);
    this.context = context;
    this.reader = new ResponseReader(this, this.siblings.knownHead);
    context.open.add(this);
  }

  /** The idle timeout that the peer announced, less a margin, in milliseconds; undefined if none was announced. */
  get announcedIdleMs(): number | undefined {
    return this.reader.announcedIdleMs;
  }

  /** Whether the connection can carry a request; false once either side has begun to close. */
  get usable(): boolean {
    return this.transport?.writable === true;
  }

  /** Connects for a stream, and reports the outcome to it. */
  open(stream: Http1Stream): void {
    const { options } = this.context;
    const dialling = options.sockets.dial(this.memory, this, this.endpoint.tls !== undefined);
    this.stream = stream;
    this.attempt = connectEndpoint(
      this.endpoint,
      {
        ...options,
        alpn: "http/1.1",
        limitMs: stream.request.connectTimeoutMs,
        // Either side of a tunnel can end before the other.
        ...(stream.request.upgrade !== undefined && { allowHalfOpen: true }),
        ...(dialling.onread && { onread: dialling.onread }),
      },
      (result) => {
        this.attempt = undefined;
        if (!result.ok) {
          this.destroy();
          stream.connectFailed(result.error);
          return;
        }
        const { socket, address } = result.value;
        this.address = address;
        this.transport = dialling.opened(socket);
        stream.connected(this);
      },
    );
  }

  receive(piece: Piece): void {
    const { reader, memory } = this;
    const handler = this.stream?.handler;
    const more = reader.read(piece);
    if (this.transport === undefined) return;
    this.paused = !more;
    const { announcedBytes } = reader;
    if (announcedBytes === undefined) memory.reset(memory.isPrivate ? handler?.pendingBytes : 0);
    else if (handler?.copies === true) memory.stayShared(more, handler.roomBytes);
    else memory.settle(announcedBytes, handler?.pendingBytes, more, handler?.roomBytes);
    if (!more) this.transport.pause();
  }

  taken(): void {
    this.stream?.drained();
  }

  ended(): void {
    this.reader.end();
  }

  failed(code: string | undefined): void {
    if (isTlsFault(code)) this.fail("upstream broke off TLS", "tls");
    else this.fail("upstream reset");
  }

  closed(): void {
    this.fail("upstream closed");
  }

  /** Assigns the connection to a stream, and returns the transport for its request. */
  begin(stream: Http1Stream, toHead: boolean): Transport {
    if (this.transport === undefined) throw new Error("a stream was begun on a connection that is not up");
    this.stream = stream;
    this.reader.begin({ toHead, upgrade: stream.request.upgrade });
    return this.transport;
  }

  /** Continues to read after `onData` returned false. */
  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.transport?.resume();
  }

  get takesViews(): boolean {
    const copies = this.stream?.handler.copies ?? false;
    return copies !== false;
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
    // Returned to the pool first, because the handler can send the next request immediately.
    if (!keep || !this.context.pool.release(this)) this.destroy();
    stream.complete(trailers);
  }

  onUpgrade(headers: Fields, rest: Buffer): void {
    const { stream, transport } = this;
    if (stream === undefined || transport === undefined) return;
    this.stream = undefined;
    this.transport = undefined;
    this.context.open.delete(this);
    stream.upgraded(headers, { transport, head: rest, memory: this.memory });
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

  /** Destroys the connection immediately, without an event to the stream on it. */
  destroy(): void {
    if (!this.context.open.delete(this)) return;
    this.stream = undefined;
    this.reader.stop();
    this.attempt?.cancel();
    if (this.transport === undefined) return;
    this.context.pool.forget(this);
    this.transport.destroy();
  }
}
