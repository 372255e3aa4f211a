import type { PeerFlood } from "../../../http2/connection/frame-guard.ts";
import { errorCode, frameType, maxStreamId } from "../../../http2/frames/frame-types.ts";
import { awake } from "../../../timing/awake-clock.ts";
import type { ClientConnection } from "../../../exchange/client-connection.ts";
import type { FrontContext } from "../front-connections.ts";
import { ReadingPace } from "../../reading-pace.ts";
import { WaitingResponse } from "../../response-memory.ts";
import type { Piece } from "../../../sockets/read-buffer.ts";
import type { Transport, TransportReceiver } from "../../../sockets/transport.ts";
import { Draining, noticePing } from "./draining.ts";
import { Lingering } from "./lingering.ts";
import { PartlyTaken } from "./partly-taken.ts";
import { RequestConnection } from "./request-connection.ts";
import { serverSettings } from "./settings.ts";
import type { NativeClientStream } from "./stream.ts";

/** How long the open streams of a client that has reset too many may continue, in milliseconds. */
const floodGraceMs = 5000;
/** The most bytes of answers to control frames that may wait for a client; content waits in its streams instead. */
const maxWaitingBytes = 262_144;

type Context = FrontContext<Http2ServerConnection>;

/** One HTTP/2 client connection, from its preface to its end: enforces time limits, counts abuse, and drains. */
export class Http2ServerConnection extends RequestConnection implements TransportReceiver {
  private readonly front: Context;
  private readonly draining = new Draining();
  private idleSinceMs: number;
  /** Set once the connection has ended but is not closed yet. */
  private lingering: Lingering | undefined = undefined;
  /** The time since which a frame or header block has been incomplete; 0 if none is. */
  private partSinceMs = 0;
  private flooded = false;
  /** The time until which the open streams of a flooding client may continue; undefined unless new ones are refused. */
  private graceEndsMs: number | undefined = undefined;
  private leaving = false;
  private clientLeaves = false;
  private readonly pace = new ReadingPace();
  private waiting: WaitingResponse | undefined = undefined;
  private readonly partlyTaken = new PartlyTaken();

  constructor(transport: Transport, connection: ClientConnection, context: Context) {
    super(transport, connection, context);
    this.front = context;
    this.idleSinceMs = awake.nowMs;
    this.begin(serverSettings(context.limits));
    transport.start(this);
  }

  /** The number of requests whose response is not complete. */
  get openRequests(): number {
    let open = 0;
    for (const stream of this.streams.values()) if (stream.isOpen) open++;
    return open;
  }

  /**
   * Ends the connection gracefully (RFC 9113 6.8): sends a GOAWAY that refuses nothing and, when the client has read
   * it, one with the last accepted stream. The connection closes with its last open stream.
   */
  drain(): void {
    if (this.isOver || this.draining.hasBegun) return;
    this.draining.begin(awake.nowMs);
    this.sendGoaway(maxStreamId, errorCode.noError);
    this.sender.output.frame(frameType.ping, 0, 0, noticePing);
    this.sender.flushLater();
  }

  /** Closes the connection immediately; returns how many requests were cut. */
  destroy(): number {
    const cut = this.openRequests;
    for (const stream of this.streams.values()) stream.cut("shutdown");
    this.end(errorCode.noError);
    this.transport.destroy();
    return cut;
  }

  sweep(nowMs: number): void {
    if (this.isOver) return this.endLinger(nowMs);
    if (this.sender.waitingBytes > maxWaitingBytes) return this.onFlood("frame-flood");
    if (this.draining.isDue(nowMs)) this.finishDrain();
    if (this.graceEndsMs !== undefined && nowMs >= this.graceEndsMs) return this.endFlood();
    if (this.endIfUnacknowledged(nowMs) || this.endIfIdle(nowMs) || this.endIfPartial(nowMs)) return;
    this.creditPartlyTaken();
    for (const stream of this.streams.values()) {
      const exceeded = stream.sweep(nowMs, this.context.limits);
      if (exceeded !== undefined) this.report(exceeded);
    }
    this.endIfStalled(nowMs);
  }

  receive({ bytes }: Piece): void {
    if (this.isOver) {
      this.lingering ??= new Lingering();
      if (!this.lingering.receive(bytes.length)) this.transport.destroy();
      return;
    }
    const { reader } = this;
    const { frames } = reader;
    // The bytes are only lent; receivers copy what they keep.
    this.read(bytes as Buffer);
    if (!this.block.isOpen && !reader.isWithinFrame) this.partSinceMs = 0;
    else if (this.partSinceMs === 0 || reader.frames !== frames) this.partSinceMs = this.nowMs;
  }

  /** Called when the client has ended its side: it can no longer open windows, so open requests cannot complete. */
  ended(): void {
    if (!this.isOver) this.end(errorCode.noError);
    if (this.sender.waitingBytes === 0) this.transport.end();
    else this.transport.destroy();
  }

  /** Called when the connection has been closed. */
  closed(): void {
    this.waiting?.hold(0, 0);
    this.end(errorCode.noError);
    this.front.onClosed(this);
  }

  protected get takesRequests(): boolean {
    return !this.draining.isFinal && this.graceEndsMs === undefined;
  }

  /** Drains the connection if it has reached its limit of requests, or if its listener drains. */
  protected onRequestTaken(): void {
    const { limits, draining } = this.context;
    const last = limits.maxRequestsPerConnection > 0 && this.requests >= limits.maxRequestsPerConnection;
    if (last && !this.leaving) this.report("requests-per-connection");
    if (this.leaving || !(last || draining || this.connection.listener.draining)) return;
    this.leaving = true;
    this.drain();
  }

  protected onStreamClosed(stream: NativeClientStream): void {
    this.partlyTaken.onClosed(stream);
    if (this.streams.size > 0) return;
    this.idleSinceMs = awake.nowMs;
    // Deferred, so that callbacks for the end of the stream run first.
    if (this.draining.isFinal || this.clientLeaves || this.graceEndsMs !== undefined) {
      queueMicrotask(() => this.endIfDone());
    }
  }

  private endIfDone(): void {
    if (this.isOver || this.streams.size > 0) return;
    if (this.graceEndsMs !== undefined) this.endFlood();
    else if (this.draining.isFinal || this.clientLeaves) this.end(errorCode.noError);
  }

  protected onGoaway(): void {
    this.clientLeaves = true;
    if (this.streams.size === 0) this.end(errorCode.noError);
  }

  protected onPingAck(bytes: Buffer, start: number): boolean {
    if (!this.draining.isAnswer(bytes.subarray(start, start + 8))) return false;
    this.finishDrain();
    return true;
  }

  private finishDrain(): void {
    this.draining.finish();
    if (this.streams.size === 0) this.end(errorCode.noError);
    else this.sendGoaway(this.lastTaken, errorCode.noError);
  }

  override end(code: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.reader.stop();
    this.sendGoaway(this.lastTaken, code);
    for (const stream of this.streams.values()) {
      this.close(stream);
      stream.onReset("own");
    }
    this.sender.output.flush();
    this.transport.end();
  }

  /**
   * Closes the connection of a client that has sent its SETTINGS but does not acknowledge those of the proxy (RFC 9113
   * 6.5.3).
   */
  private endIfUnacknowledged(nowMs: number): boolean {
    const { headerTimeoutMs } = this.context.limits;
    if (this.settingsSinceMs === 0 || headerTimeoutMs === 0 || !this.hasSettings) return false;
    if (nowMs - this.settingsSinceMs < headerTimeoutMs) return false;
    this.report("settings-timeout");
    this.end(errorCode.settingsTimeout);
    return true;
  }

  /** Ends a connection without streams: before the first request after the header timeout, later after the idle one. */
  private endIfIdle(nowMs: number): boolean {
    if (this.streams.size > 0) return false;
    const { headerTimeoutMs, idleTimeoutMs } = this.context.limits;
    const fresh = this.requests === 0;
    const limitMs = fresh ? headerTimeoutMs : idleTimeoutMs;
    if (limitMs === 0 || nowMs - this.idleSinceMs < limitMs) return false;
    if (this.draining.hasBegun) return false;
    this.report(fresh ? "header-timeout" : "idle-timeout");
    if (fresh) this.end(errorCode.noError);
    else this.drain();
    return true;
  }

  /**
   * Closes a connection with a frame or header block that is not completed in time, since it blocks everything after
   * it.
   */
  private endIfPartial(nowMs: number): boolean {
    const { headerTimeoutMs } = this.context.limits;
    if (this.partSinceMs === 0 || headerTimeoutMs === 0) return false;
    if (nowMs - this.partSinceMs < headerTimeoutMs) return false;
    this.report("header-timeout");
    this.end(errorCode.noError);
    return true;
  }

  /** Closes a connection whose socket accepts too little or nothing. */
  private endIfStalled(nowMs: number): void {
    const { waitingBytes } = this.sender;
    const taken = this.transport.takenBytes;
    if (waitingBytes > 0) this.waiting ??= new WaitingResponse(this.memory, this);
    this.waiting?.hold(waitingBytes, taken);
    if (waitingBytes === 0) this.pace.rest();
    else if (this.pace.isStalled(nowMs, taken, this.context.limits.writeTimeoutMs)) {
      this.report("write-timeout");
      this.cutAll("timeout");
    }
  }

  /** Called by the response memory; updates the counts of this connection. */
  look(): void {
    this.waiting?.hold(this.isOver ? 0 : this.sender.waitingBytes, this.transport.takenBytes);
  }

  cut(): void {
    this.cutAll("response-memory");
  }

  private cutAll(reason: "timeout" | "response-memory"): void {
    for (const stream of this.streams.values()) stream.cut(reason);
    this.end(errorCode.noError);
    this.transport.destroy();
  }

  private endLinger(nowMs: number): void {
    this.lingering ??= new Lingering();
    if (this.lingering.isOver(nowMs)) this.transport.destroy();
  }

  protected onFlood(flood: PeerFlood): void {
    if (this.isOver) return;
    if (!this.flooded) this.report(flood);
    else if (flood === "reset-flood") return;
    this.flooded = true;
    if (flood !== "reset-flood" || this.streams.size === 0) this.endFlood();
    else this.refuseStreams();
  }

  /** Accepts no more streams, and lets open ones finish for `floodGraceMs`. */
  private refuseStreams(): void {
    this.graceEndsMs = awake.nowMs + floodGraceMs;
    this.leaving = true;
    this.sendGoaway(this.lastTaken, errorCode.enhanceYourCalm);
  }

  private endFlood(): void {
    this.end(errorCode.enhanceYourCalm);
  }

  protected onFatal(reason: string): void {
    this.report("malformed", { error: new Error(reason) });
  }

  creditPartlyTaken(): void {
    this.partlyTaken.credit(this.streams, this.transport.takenBytes, this.sender.waitingBytes > 0);
  }
}
