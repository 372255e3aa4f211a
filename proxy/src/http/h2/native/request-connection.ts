import { Http2Connection } from "../../../http2/connection/connection.ts";
import { errorCode, frameFlag } from "../../../http2/frames/frame-types.ts";
import type { Priority } from "../../../http2/priority.ts";
import { connectionWindowBytes, streamWindowBytes } from "../../../http2/settings.ts";
import type { ClientConnection } from "../../../exchange/client-connection.ts";
import { RepeatedLines } from "../../../message/repeated-lines.ts";
import type { Transport } from "../../../sockets/transport.ts";
import type { ResponseMemory } from "../../response-memory.ts";
import { type EventDetails, eventOf, type Http2FrontEventReason } from "../events.ts";
import type { FrontContext } from "../front-connections.ts";
import { takeRequest } from "../take-request.ts";
import { type ReceivedRequest, RequestFields } from "./request-fields.ts";
import { maxStreams } from "./settings.ts";
import type { StreamHost } from "./stream-host.ts";
import { NativeClientStream } from "./stream.ts";
import { addWebSocketKey } from "./web-socket-key.ts";

type Context = FrontContext<never>;

/** Shared by all connections, because the fields of a request are read within one call. */
const requestFields = new RequestFields();

/** The part of a client connection that receives requests: reads their heads and opens the streams for them. */
export abstract class RequestConnection
  extends Http2Connection<NativeClientStream>
  implements StreamHost<NativeClientStream>
{
  protected readonly connection: ClientConnection;
  protected readonly context: Context;
  private readonly lastFields = new RepeatedLines();
  requests = 0;
  /** The last stream that the client has opened. */
  private lastPeerStream = 0;
  /** The last stream that was accepted, open or not. */
  protected lastTaken = 0;

  constructor(transport: Transport, connection: ClientConnection, context: Context) {
    super(transport, {
      asServer: true,
      maxPeerStreams: maxStreams,
      windowBytes: connectionWindowBytes,
      streamWindowBytes,
      trailerRules: context.limits,
    });
    this.connection = connection;
    this.context = context;
  }

  /** False once a final GOAWAY has announced that new streams are not processed. */
  protected abstract get takesRequests(): boolean;
  /** Called before a request is passed to the pipeline. */
  protected abstract onRequestTaken(): void;
  abstract creditPartlyTaken(): void;

  get memory(): ResponseMemory {
    return this.context.responseMemory;
  }

  countSent(bytes: number): void {
    this.guard.countSent(bytes);
  }

  /** Called when a response is complete. The rest of an incomplete request is given up. */
  onResponseEnd(stream: NativeClientStream): void {
    if (stream.remoteEnded) this.close(stream);
    else this.reset(stream, errorCode.noError);
  }

  protected onHeaders(streamId: number, flags: number, bytes: Buffer, start: number, end: number): boolean {
    const open = this.streams.get(streamId);
    const endStream = (flags & frameFlag.endStream) !== 0;
    if (open?.remoteEnded === true) return this.onFault(errorCode.streamClosed, "HEADERS after END_STREAM");
    if (open !== undefined) return this.onTrailers(open, endStream, bytes, start, end);
    if (streamId % 2 === 0) return this.onFault(errorCode.protocolError, "HEADERS on an even stream");
    if (streamId <= this.lastPeerStream) return this.onLateHeaders(streamId, flags, bytes, start, end);
    this.lastPeerStream = streamId;
    const early = this.earlyPriorities.take(streamId);
    requestFields.begin(this.context.limits);
    if (!this.decode(bytes, start, end, requestFields)) return false;
    const { nowMs } = this;
    if (!this.takesRequests) return this.ignore(streamId, endStream);
    this.guard.countOpened(nowMs);
    if (this.streams.size >= maxStreams) {
      this.refuseStream(streamId, endStream, errorCode.refusedStream);
      // A client does not know the limit until it has read the SETTINGS.
      const knowsLimit = this.settingsSinceMs === 0;
      return this.punish(knowsLimit ? this.guard.countReset(nowMs) : this.guard.countControl(nowMs));
    }
    this.lastTaken = streamId;
    const received = requestFields.finish(this.context.limits, endStream, this.lastFields);
    if (received === undefined || this.block.dependsOnItself) {
      this.report("malformed");
      this.refuseStream(streamId, endStream, errorCode.protocolError);
      return this.punish(this.guard.countReset(nowMs));
    }
    this.open(streamId, received, endStream, early);
    return !this.isOver;
  }

  private open(streamId: number, received: ReceivedRequest, endStream: boolean, early?: Priority): void {
    const client = new NativeClientStream(
      streamId,
      this,
      { send: this.sender.peer.initialWindowBytes, receive: streamWindowBytes },
      {
        length: received.contentLength,
        hasEnded: endStream,
        webSocketKey: received.isWebSocket && !endStream ? addWebSocketKey(received.head.headers) : undefined,
        isHead: received.head.method === "HEAD",
        grpc: received.grpc,
      },
    );
    const priority = early ?? received.priority;
    if (priority !== undefined) client.prioritise(priority);
    this.streams.set(streamId, client);
    this.requests++;
    this.onRequestTaken();
    takeRequest(this.context, this.connection, received, client);
  }

  /** Handles HEADERS on a stream below the last one, which is an error unless the stream is remembered as closed. */
  private onLateHeaders(streamId: number, flags: number, bytes: Buffer, start: number, end: number): boolean {
    if (this.closedStreams.of(streamId) === "unknown")
      return this.onFault(errorCode.protocolError, "a stream below the last one");
    return this.ignoreHeaders(streamId, flags, bytes, start, end);
  }

  protected isIdle(streamId: number): boolean {
    return streamId % 2 === 0 || streamId > this.lastPeerStream;
  }

  protected onPeerSettings(): void {}

  private refuseStream(streamId: number, endStream: boolean, code: number): void {
    this.sendReset(streamId, code);
    this.remember(streamId, endStream);
  }

  /** Ignores a stream that crosses the last GOAWAY. The client knows from the GOAWAY that it is not processed. */
  private ignore(streamId: number, endStream: boolean): boolean {
    this.remember(streamId, endStream);
    return this.punish(this.guard.countMinor(this.nowMs));
  }

  private remember(streamId: number, endStream: boolean): void {
    if (endStream) this.closedStreams.addEnded(streamId);
    else this.cutOff(streamId, streamWindowBytes);
  }

  protected report(reason: Http2FrontEventReason, details?: EventDetails): void {
    this.context.onEvent(eventOf(this.connection, reason, details));
  }
}
