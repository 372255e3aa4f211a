import { errorCode } from "../../../http2/frames/frame-types.ts";
import { HeldContent } from "../../../http2/connection/held-content.ts";
import type { ResetCause } from "../../../http2/connection/stream.ts";
import type { Fields } from "../../../message/fields.ts";
import type {
  BodyAbortReason,
  ClientCloseReason,
  ClientStream,
  HeaderList,
} from "../../../message/message.ts";
import { SocketTransport } from "../../../sockets/socket-transport.ts";
import type { TunnelEnd } from "../../../sockets/transport.ts";
import type { ReadingPace } from "../../reading-pace.ts";
import { type WaitingClient, WaitingResponse } from "../../response-memory.ts";
import { type ExceededLimit, type StreamLimits, type SweptStream, sweepStream } from "../sweep-stream.ts";
import { NativeRequestBody } from "./request-body.ts";
import { minCountedBytes, ResponseStream } from "./response-stream.ts";
import type { RequestFacts, StreamHost } from "./stream-host.ts";
import { StreamSocket } from "./stream-socket.ts";
import { takeWebSocketProof } from "./web-socket-key.ts";

const noBytes: Buffer = Buffer.alloc(0);

/** One request of a client: its body, its time limits, and the tunnel that it may become. The response is that of its base. */
export class NativeClientStream extends ResponseStream implements ClientStream, WaitingClient, SweptStream {
  readonly body: NativeRequestBody | null;
  readonly canUpgrade: boolean;
  onClose: ((reason: ClientCloseReason) => void) | null = null;
  readonly grpc: boolean;
  protected readonly connection: StreamHost<NativeClientStream>;
  private readonly webSocketKey: string | undefined;
  /** Once the stream is a tunnel. */
  private tunnel: StreamSocket | undefined = undefined;
  /** Called when what was sent through the tunnel is in frames. */
  private onSent: (() => void) | undefined = undefined;
  /** What the client has sent before it was. */
  private early: HeldContent | undefined = undefined;
  private closeReason: ClientCloseReason = "client-closed";
  pace: ReadingPace | undefined = undefined;
  private waiting: WaitingResponse | undefined = undefined;
  /** Content that the socket has taken while no frame was completed, as far as the connection can tell. */
  private partlyTakenBytes = 0;
  /** `framedBytes` at the last sweep. */
  private sweptBytes = 0;

  constructor(
    id: number,
    connection: StreamHost<NativeClientStream>,
    windows: { readonly send: number; readonly receive: number },
    request: RequestFacts,
  ) {
    super(id, windows, request.isHead);
    this.connection = connection;
    this.grpc = request.grpc;
    this.remoteEnded = request.hasEnded;
    this.webSocketKey = request.webSocketKey;
    this.canUpgrade = request.webSocketKey !== undefined;
    this.body = request.hasEnded || this.canUpgrade ? null : new NativeRequestBody(request.length, this);
  }

  abort(): void {
    if (!this.isComplete) this.connection.reset(this, errorCode.internalError);
  }

  /** The response cannot be completed as it was announced: the client must see that. */
  protected breakOff(): void {
    this.closeReason = "broken-response";
    this.abort();
  }

  closeAfterResponse(): void {}

  /** Answers 200, the counterpart of 101 (RFC 8441 5), and makes a socket of the stream. */
  upgrade(headers: Fields): TunnelEnd | undefined {
    if (this.isClosed || this.headTaken || this.webSocketKey === undefined) return undefined;
    if (!takeWebSocketProof(headers, this.webSocketKey)) return undefined;
    this.sendHead({ status: 200, headers, length: undefined, bodyless: false });
    const socket = new StreamSocket(this);
    this.tunnel = socket;
    while (this.early !== undefined && this.early.bytes > 0) socket.receive(this.early.take());
    if (this.remoteEnded) socket.endOfContent();
    return { transport: new SocketTransport(socket), head: noBytes };
  }

  send(bytes: Buffer, done: () => void): void {
    if (this.isClosed) return done();
    const { sender } = this.connection;
    this.connection.countSent(bytes.length);
    this.bytesSent += bytes.length;
    this.hold(bytes);
    if (this.heldBytes < minCountedBytes) sender.schedule(this);
    else sender.sendNow(this);
    if (this.heldBytes === 0) done();
    else this.onSent = done;
  }

  finish(): void {
    if (this.isClosed) return;
    this.isComplete = true;
    this.connection.sender.schedule(this);
  }

  release(): void {
    if (!this.isClosed && !(this.isComplete && this.remoteEnded))
      this.connection.reset(this, errorCode.cancel);
  }

  /** Resets the stream for a reason of the proxy, which the exchange gets. */
  cut(reason: ClientCloseReason = "response-memory"): void {
    this.closeReason = reason;
    this.connection.reset(this, errorCode.cancel);
  }

  /** True until the response was handed over completely. */
  get isOpen(): boolean {
    return !this.isComplete && !this.isClosed;
  }

  /** Ends what exceeded a limit and answers which one. */
  sweep(nowMs: number, limits: StreamLimits): ExceededLimit | undefined {
    // Tunnels have limits of their own.
    return this.isTunnel ? undefined : sweepStream(this, nowMs, limits);
  }

  /** Content that was put into frames since this was asked last. */
  newlyFramedBytes(): number {
    const bytes = this.framedBytes - this.sweptBytes;
    this.sweptBytes += bytes;
    return bytes;
  }

  /** `bytes` have left for this stream while no frame was put together. */
  countPartly(bytes: number): void {
    this.partlyTakenBytes += bytes;
  }

  /** The memory of waiting responses asks. */
  look(): void {
    this.connection.creditPartlyTaken();
    this.countWaiting();
  }

  countWaiting(): void {
    if (this.isTunnel) return;
    if (this.heldBytes > 0) this.waiting ??= new WaitingResponse(this.connection.memory, this);
    this.waiting?.hold(this.heldBytes, this.progressBytes);
  }

  private get isTunnel(): boolean {
    return this.tunnel !== undefined && !this.tunnel.destroyed;
  }

  private endTunnel(): void {
    this.notifySent();
    this.tunnel?.destroy();
  }

  get progressBytes(): number {
    return this.framedBytes + this.partlyTakenBytes;
  }

  /** The response is complete. The rest of a request that is not complete is no longer read (RFC 9113 8.1). */
  onLocalEnd(): void {
    this.waiting?.hold(0, 0);
    this.notifySent();
    // The other direction of a tunnel may go on.
    if (this.tunnel !== undefined && !this.remoteEnded) return;
    this.dropUnread();
    this.connection.onResponseEnd(this);
  }

  /** Gives back the room of what was not read, which it has in the window of the connection also when all of the request has come. */
  private dropUnread(reason: BodyAbortReason = "client-closed"): void {
    this.body?.abort(reason);
    if (this.early !== undefined) this.take(this.early.drop());
  }

  protected onContentFramed(): void {
    this.notifySent();
    this.waiting?.hold(0, 0);
  }

  private notifySent(): void {
    const { onSent } = this;
    this.onSent = undefined;
    onSent?.();
  }

  onContent(bytes: Buffer, start: number, end: number): boolean {
    if (this.body !== null) return this.body.receive(bytes, start, end);
    const piece = bytes.subarray(start, end);
    if (this.tunnel !== undefined) this.tunnel.receive(piece);
    else {
      this.early ??= new HeldContent();
      this.early.add(piece);
    }
    return true;
  }

  override get awaitedBytes(): number {
    return this.body?.awaitedBytes ?? Number.POSITIVE_INFINITY;
  }

  /** The request has come to its end. False: its length is not the declared one. */
  onRemoteEnd(trailers: HeaderList | undefined): boolean {
    this.tunnel?.endOfContent();
    return this.body === null || this.body.end(trailers);
  }

  /** Counts bytes of the body that its reader has taken. */
  take(bytes: number): void {
    this.connection.take(this, bytes);
  }

  onReset(cause: ResetCause): void {
    const isOpen = !this.isComplete;
    this.isComplete = true;
    this.head = undefined;
    this.dropContent();
    this.waiting?.hold(0, 0);
    this.dropUnread(cause === "fault" ? "malformed" : "client-closed");
    if (this.tunnel !== undefined) this.endTunnel();
    // The end of a tunnel is that of its sockets, unless the proxy ends it.
    if (!isOpen || (this.tunnel !== undefined && this.closeReason === "client-closed")) return;
    const { onClose } = this;
    this.onClose = null;
    onClose?.(this.closeReason);
  }
}
