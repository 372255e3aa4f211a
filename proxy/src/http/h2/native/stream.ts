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

/**
 * One request of a client: its body, its time limits, and the tunnel that it can become. The base class has the
 * response.
 */
export class NativeClientStream extends ResponseStream implements ClientStream, WaitingClient, SweptStream {
  readonly body: NativeRequestBody | null;
  readonly canUpgrade: boolean;
  onClose: ((reason: ClientCloseReason) => void) | null = null;
  readonly grpc: boolean;
  protected readonly connection: StreamHost<NativeClientStream>;
  private readonly webSocketKey: string | undefined;
  /** Set once the stream is a tunnel. */
  private tunnel: StreamSocket | undefined = undefined;
  /** Called when the bytes sent through the tunnel are in frames. */
  private onSent: (() => void) | undefined = undefined;
  /** Content that the client sent before the stream became a tunnel. */
  private early: HeldContent | undefined = undefined;
  private closeReason: ClientCloseReason = "client-closed";
  pace: ReadingPace | undefined = undefined;
  private waiting: WaitingResponse | undefined = undefined;
  /** The estimated content that the socket has accepted while no frame was completed, in bytes. */
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

  /** Aborts a response that does not match its head, so that the client sees the failure. */
  protected breakOff(): void {
    this.closeReason = "broken-response";
    this.abort();
  }

  closeAfterResponse(): void {}

  /** Answers 200, the counterpart of 101 (RFC 8441 5), and turns the stream into a socket. */
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

  /** Resets the stream for a reason of the proxy, which is reported to the exchange. */
  cut(reason: ClientCloseReason = "response-memory"): void {
    this.closeReason = reason;
    this.connection.reset(this, errorCode.cancel);
  }

  /** True until the response has been handed over completely. */
  get isOpen(): boolean {
    return !this.isComplete && !this.isClosed;
  }

  /** Ends the body or the stream if it exceeded a limit, and returns which one. */
  sweep(nowMs: number, limits: StreamLimits): ExceededLimit | undefined {
    // Tunnels have separate limits.
    return this.isTunnel ? undefined : sweepStream(this, nowMs, limits);
  }

  /** Returns the bytes of content that were put into frames since the last call. */
  newlyFramedBytes(): number {
    const bytes = this.framedBytes - this.sweptBytes;
    this.sweptBytes += bytes;
    return bytes;
  }

  /** Adds `bytes` to those that the socket accepted for this stream while no frame was completed. */
  countPartly(bytes: number): void {
    this.partlyTakenBytes += bytes;
  }

  /** Called by the response memory; updates the counts of this stream. */
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

  /** Called when the response is complete. The rest of an incomplete request is not read any more (RFC 9113 8.1). */
  onLocalEnd(): void {
    this.waiting?.hold(0, 0);
    this.notifySent();
    // The other direction of a tunnel can continue.
    if (this.tunnel !== undefined && !this.remoteEnded) return;
    this.dropUnread();
    this.connection.onResponseEnd(this);
  }

  /** Drops unread content and renews the connection window for it, even if the whole request has arrived. */
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

  /** Called at the end of the request. Returns false if its length is not the declared one. */
  onRemoteEnd(trailers: HeaderList | undefined): boolean {
    this.tunnel?.endOfContent();
    return this.body === null || this.body.end(trailers);
  }

  /** Renews the windows for bytes of the body that its reader has accepted. */
  take(bytes: number): void {
    this.connection.take(this, bytes);
  }

  onReset(cause: ResetCause): void {
    const isOpen = !this.isComplete;
    this.isComplete = true;
    this.head = undefined;
    this.dropContent();
    this.waiting?.hold(0, 0);
    // A request with a fault is answered for it. Otherwise its client has left, so its body no longer matters.
    if (cause === "fault") this.dropUnread("malformed");
    if (this.tunnel !== undefined) this.endTunnel();
    if (isOpen) this.notifyClosed();
    if (cause !== "fault") this.dropUnread();
  }

  private notifyClosed(): void {
    // A tunnel ends with its sockets, unless the proxy ends it.
    if (this.tunnel !== undefined && this.closeReason === "client-closed") return;
    const { onClose } = this;
    this.onClose = null;
    onClose?.(this.closeReason);
  }
}
