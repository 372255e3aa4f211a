import { errorCode } from "../../../http2/frames/frame-types.ts";
import type { Piece } from "../../../sockets/read-buffer.ts";
import type { Transport, TransportReceiver } from "../../../sockets/transport.ts";
import { AwakeTimer } from "../../../timing/awake-timer.ts";
import { isTlsFault, upstreamError, type UpstreamError } from "../../upstream-errors.ts";
import type { UpstreamRequest } from "../../upstream.ts";
import {
  maxStreamsPerSession,
  type SessionEvents,
  type UpstreamSession,
  type WireEvents,
} from "../session.ts";
import { isSendable } from "./request-block.ts";
import { ResponseConnection } from "./response-connection.ts";
import { clientSettings } from "./settings.ts";
import { NativeWireStream, type WireHost } from "./wire-stream.ts";

/** The number of the last stream that a connection can have (RFC 9113 5.1.1). */
const lastStreamId = 0x7fff_ffff;
/** Time for the last frames of a connection that no longer carries a stream. */
const lingerMs = 1_000;
/** The most bytes of replies to control frames that wait for a server; all other data waits elsewhere. */
const maxWaitingBytes = 262_144;

/** One HTTP/2 connection to an endpoint (RFC 9113) on the project's own codec: accepts requests, and ends itself. */
export class NativeUpstreamSession
  extends ResponseConnection
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
  /** The error code that is sent when the last stream has ended. */
  private lastCode: number = errorCode.noError;
  /** The streams of which nothing has been sent, because the socket has no room. */
  private readonly unsent = new Set<NativeWireStream>();

  constructor(transport: Transport, settingsTimeoutMs: number, events: SessionEvents) {
    super(transport);
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
    // The remaining numbers are needed for the streams that wait.
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
   * Called when the server has not acknowledged the SETTINGS in time, and so might not observe them (RFC 9113 6.5.3).
   * Requests under way continue; the connection accepts no more, and ends after the last one.
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
