import { Http2Connection } from "../../../http2/connection/connection.ts";
import { errorCode, frameFlag } from "../../../http2/frames/frame-types.ts";
import { settingId, settingsPayload } from "../../../http2/frames/settings-frame.ts";
import { connectionWindowBytes, streamWindowBytes } from "../../../http2/settings.ts";
import { Fields } from "../../../message/fields.ts";
import type { ResponseHead } from "../../../message/message.ts";
import { type Piece, ReadBuffer } from "../../../sockets/read-buffer.ts";
import type { SocketLayer } from "../../../sockets/socket-layer.ts";
import type { Transport, TransportReceiver } from "../../../sockets/transport.ts";
import { AwakeTimer } from "../../../timing/awake-timer.ts";
import { isTlsFault, upstreamError, type UpstreamError } from "../../upstream-errors.ts";
import type { UpstreamRequest } from "../../upstream.ts";
import { faultOfHead, isBodyless, maxFields, maxHeadBytes } from "../response-rules.ts";
import {
  maxStreamsPerSession,
  type SessionEvents,
  type SessionOpener,
  type UpstreamSession,
  type WireEvents,
} from "../session.ts";
import { isSendable } from "./request-block.ts";
import { ResponseFields } from "./response-fields.ts";
import { NativeWireStream, type WireHost } from "./wire-stream.ts";

const clientSettings = settingsPayload([
  [settingId.enablePush, 0],
  [settingId.initialWindowSize, streamWindowBytes],
  // More than the limit of a head, so that servers send what is refused by name.
  [settingId.maxHeaderListSize, 131_072],
]);

/** Room for 32 octets that count for each field besides its name and value. */
const trailerRules = {
  maxHeaderBytes: maxHeadBytes + 32 * maxFields,
  maxHeaders: maxFields,
  // The head of the response is with the client by then, and a cut would be all that is left to answer.
  dropsLength: true,
};

/** The number of the last stream that a connection can have (RFC 9113 5.1.1). */
const lastStreamId = 0x7fff_ffff;
/** For the last frames of a connection that carries no stream any more. */
const lingerMs = 1_000;
/** Answers to control frames that may wait for a server; all else waits elsewhere. */
const maxWaitingBytes = 262_144;

/**
 * How all connections read: into the memory that those of the thread share. Each read is dealt with before the next one begins, and
 * content is copied out of it.
 */
const memory = new ReadBuffer();

/** Fields are read within a call: one reader serves all connections. */
const responseFields = new ResponseFields();

/** Sessions on the project's own codec. */
export function openNativeSession(sockets: SocketLayer, isTls: boolean): SessionOpener {
  let session: NativeUpstreamSession | undefined;
  const receiver: TransportReceiver = {
    receive: (piece) => session?.receive(piece),
    ended: () => session?.ended(),
    taken: () => session?.taken(),
    failed: (code) => session?.failed(code),
    closed: () => session?.closed(),
  };
  const dialling = sockets.dial(memory, receiver, isTls);
  return {
    ...(dialling.onread && { onread: dialling.onread }),
    open(socket, settingsTimeoutMs, events) {
      session = new NativeUpstreamSession(dialling.opened(socket), settingsTimeoutMs, events);
      return session;
    },
  };
}

/** One HTTP/2 connection to an endpoint (RFC 9113) on the project's own codec. */
class NativeUpstreamSession
  extends Http2Connection<NativeWireStream>
  implements UpstreamSession, WireHost, TransportReceiver
{
  fault: UpstreamError | undefined = undefined;
  private readonly events: SessionEvents;
  private readonly settingsTimeoutMs: number;
  private settingsTimer: AwakeTimer | undefined = undefined;
  private lingerTimer: AwakeTimer | undefined = undefined;
  private ready = false;
  private usable = true;
  private active = 0;
  private served = 0;
  private nextStreamId = 1;
  /** What the connection says when its last stream has ended. */
  private lastCode: number = errorCode.noError;
  /** Streams of which nothing has been sent, for want of room in the socket. */
  private readonly unsent = new Set<NativeWireStream>();

  constructor(transport: Transport, settingsTimeoutMs: number, events: SessionEvents) {
    super(transport, {
      asServer: false,
      windowBytes: connectionWindowBytes,
      streamWindowBytes,
      trailerRules,
      maxPeerStreams: 0,
    });
    this.events = events;
    this.settingsTimeoutMs = settingsTimeoutMs;
    this.waitForSettings(() => this.onSettingsTimeout());
    this.begin(clientSettings);
  }

  get maxStreams(): number {
    return Math.min(this.sender.peer.maxStreams, maxStreamsPerSession);
  }

  get room(): number {
    return this.ready && this.usable ? this.maxStreams - this.active : 0;
  }

  get opening(): boolean {
    return !this.ready && this.usable;
  }

  get opened(): boolean {
    return this.ready;
  }

  get idle(): boolean {
    return this.active === 0;
  }

  get reused(): boolean {
    return this.served > 0;
  }

  open(request: UpstreamRequest, events: WireEvents): NativeWireStream {
    const stream = new NativeWireStream(this, request, events);
    this.active++;
    this.served++;
    this.guard.countOpened(this.nowMs);
    if (isSendable(request)) {
      this.sender.sendNow(stream);
      if (stream.id === 0) this.unsent.add(stream);
    } else queueMicrotask(() => events.onInvalid("invalid request head"));
    // The last number goes to a stream that waits for it.
    if (this.nextStreamId + 2 * this.unsent.size > lastStreamId) this.becomeUnusable();
    return stream;
  }

  number(stream: NativeWireStream): void {
    stream.id = this.nextStreamId;
    stream.sendWindow = this.sender.peer.initialWindowBytes;
    this.nextStreamId += 2;
    this.streams.set(stream.id, stream);
    this.unsent.delete(stream);
  }

  countSent(bytes: number): void {
    this.guard.countSent(bytes);
  }

  drop(stream: NativeWireStream): void {
    if (stream.isClosed) return;
    stream.isClosed = true;
    this.unsent.delete(stream);
    this.onStreamClosed();
  }

  finish(stream: NativeWireStream): void {
    this.close(stream);
  }

  closeIdle(): void {
    this.retire();
  }

  retire(): void {
    this.becomeUnusable();
    this.endIfDone();
  }

  destroy(error: UpstreamError): void {
    this.endFor(error);
    this.transport.destroy();
  }

  receive({ bytes }: Piece): void {
    if (this.isOver) return;
    this.read(bytes as Buffer);
    if (this.sender.waitingBytes > maxWaitingBytes) this.onFlood();
  }

  protected onHeaders(streamId: number, flags: number, bytes: Buffer, start: number, end: number): boolean {
    const stream = this.streams.get(streamId);
    const endStream = (flags & frameFlag.endStream) !== 0;
    if (stream === undefined) {
      if (this.isIdle(streamId)) return this.onFault(errorCode.protocolError, "HEADERS on an idle stream");
      return this.ignoreHeaders(streamId, flags, bytes, start, end);
    }
    if (stream.remoteEnded) return this.onFault(errorCode.streamClosed, "HEADERS after END_STREAM");
    if (stream.responded) return this.onTrailers(stream, endStream, bytes, start, end);
    responseFields.begin();
    if (!this.decode(bytes, start, end, responseFields)) return false;
    if (!responseFields.finish()) return this.refuse(stream, "invalid response header");
    const text = faultOfHead(responseFields);
    if (text !== undefined) {
      stream.onUnusable(text);
      return !this.isOver;
    }
    const { status, headers, length } = responseFields;
    if (status >= 200) {
      const head = { status, headers: Fields.checked(headers), length, bodyless: false };
      return this.onHead(stream, endStream, head);
    }
    if (endStream) return this.refuse(stream, "1xx response without a final one");
    stream.onInformational(status, headers);
    return !this.isOver;
  }

  private onHead(stream: NativeWireStream, endStream: boolean, head: ResponseHead): boolean {
    head.bodyless = isBodyless(stream.method, head.status);
    if (endStream && !head.bodyless) {
      head.length ??= 0;
      if (head.length > 0) return this.refuse(stream, "response body shorter than declared");
    }
    stream.onHead(head);
    if (endStream && !stream.isClosed) this.endRemote(stream);
    return !this.isOver;
  }

  protected override onBadTrailers(stream: NativeWireStream): boolean {
    return this.refuse(stream, "invalid response trailers");
  }

  /** Resets a stream whose response is malformed (RFC 9113 8.1.1). */
  private refuse(stream: NativeWireStream, text: string): boolean {
    stream.explain(text);
    return this.blame(stream, errorCode.protocolError);
  }

  protected isIdle(streamId: number): boolean {
    return streamId % 2 === 0 || streamId >= this.nextStreamId;
  }

  protected onPeerSettings(): void {
    if (!this.ready) {
      this.ready = true;
      this.waitForSettings(() => this.onUnacknowledged());
    }
    if (this.usable) this.events.onRoom(this);
  }

  private waitForSettings(onTimeout: () => void): void {
    this.settingsTimer?.clear();
    if (this.settingsTimeoutMs > 0) this.settingsTimer = new AwakeTimer(onTimeout, this.settingsTimeoutMs);
  }

  /**
   * A server that never acknowledges the SETTINGS may not keep to them (RFC 9113 6.5.3). Requests under way do not suffer for it:
   * the connection takes no more of them, and ends after the last.
   */
  private onUnacknowledged(): void {
    if (this.settingsSinceMs === 0 || this.isOver) return;
    this.lastCode = errorCode.settingsTimeout;
    this.becomeUnusable();
    this.endIfDone();
  }

  private onSettingsTimeout(): void {
    this.destroy(upstreamError("connect-timeout", "no HTTP/2 settings in time", { requestSent: false }));
  }

  protected onGoaway(code: number, lastProcessed: number): void {
    if (code !== errorCode.noError) {
      this.fault ??= upstreamError("reset", "connection closed with GOAWAY", { requestSent: true });
    }
    this.becomeUnusable();
    this.refuseUnsent();
    for (const stream of this.streams.values()) {
      if (stream.id <= lastProcessed) continue;
      this.close(stream);
      stream.onRefused();
    }
    this.endIfDone();
  }

  private refuseUnsent(): void {
    for (const stream of this.unsent) {
      this.drop(stream);
      stream.onRefused();
    }
  }

  protected onPingAck(): boolean {
    return false;
  }

  protected onStreamClosed(): void {
    this.active--;
    if (!this.usable) return this.endIfDone();
    this.events.onRoom(this);
    if (this.active === 0) this.events.onIdle(this);
  }

  protected onFlood(): void {
    this.onFatal();
    this.end(errorCode.enhanceYourCalm);
  }

  protected onFatal(): void {
    this.fault ??= this.ready
      ? upstreamError("invalid", "invalid HTTP/2 from endpoint", { requestSent: true })
      : upstreamError("invalid", "endpoint does not speak HTTP/2", { requestSent: false });
  }

  failed(code: string | undefined): void {
    const fault = isTlsFault(code)
      ? upstreamError("tls", "upstream broke off TLS", { requestSent: this.ready })
      : upstreamError("reset", "connection reset", { requestSent: this.ready });
    this.endFor(fault);
  }

  ended(): void {
    this.endFor(this.closedFault());
  }

  closed(): void {
    this.endFor(this.closedFault());
    this.lingerTimer?.clear();
  }

  private closedFault(): UpstreamError {
    return upstreamError("reset", "connection closed", { requestSent: this.ready });
  }

  private endFor(fault: UpstreamError): void {
    if (this.isOver) return;
    this.fault ??= fault;
    this.end(errorCode.noError);
  }

  private endIfDone(): void {
    if (this.active === 0 && !this.usable && !this.isOver) this.end(this.lastCode);
  }

  override end(code: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.reader.stop();
    this.settingsTimer?.clear();
    this.becomeUnusable();
    this.sendGoaway(0, code);
    this.refuseUnsent();
    for (const stream of this.streams.values()) {
      this.close(stream);
      stream.onReset("own", code);
    }
    this.sender.output.flush();
    this.transport.end();
    this.lingerTimer = new AwakeTimer(() => this.transport.destroy(), lingerMs);
  }

  private becomeUnusable(): void {
    if (!this.usable) return;
    this.usable = false;
    this.events.onUnusable(this);
  }
}
