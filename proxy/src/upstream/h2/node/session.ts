import type { ClientHttp2Session, ClientHttp2Stream, ClientSessionOptions } from "node:http2";
import type { Socket } from "node:net";
import { containErrors } from "../../../http2/contain-errors.ts";
import { errorCode } from "../../../http2/frames/frame-types.ts";
import { nodeHttp2 } from "../../../http2/node-module.ts";
import { maxFrameBytes, streamWindowBytes } from "../../../http2/settings.ts";
import { ignore } from "../../../sockets/ignore.ts";
import { AwakeTimer } from "../../../timing/awake-timer.ts";
import { isTlsFault, upstreamError, type UpstreamError } from "../../upstream-errors.ts";
import type { UpstreamRequest } from "../../upstream.ts";
import {
  maxStreamsPerSession,
  sessionWindowBytes,
  type SessionEvents,
  type SessionOpener,
  type UpstreamSession,
  type WireEvents,
} from "../session.ts";
import { requestFields } from "./request-fields.ts";
import { NodeWireStream, type StreamSession } from "./wire-stream.ts";

/**
 * Node resets a response with more fields than this. Fewer, but more than the limit, are refused with a clear error.
 */
const maxFieldsSeen = 1000;
/** Announced to servers; nghttp2 reads at most 64 KiB of names and values anyway. */
const announcedHeaderBytes = 131_072;

const sessionOptions: ClientSessionOptions & { readonly strictSingleValueFields: boolean } = {
  maxHeaderListPairs: maxFieldsSeen,
  // Megabytes; more than all streams hold when all of them are blocked.
  maxSessionMemory: 128,
  maxReservedRemoteStreams: 0,
  strictSingleValueFields: false,
  settings: {
    enablePush: false,
    initialWindowSize: streamWindowBytes,
    maxFrameSize: maxFrameBytes,
    maxHeaderListSize: announcedHeaderBytes,
  },
};

/** Opens sessions on Node's own module. */
export const openNodeSession = (): SessionOpener => ({
  open: (socket, settingsTimeoutMs, events) => new NodeUpstreamSession(socket, settingsTimeoutMs, events),
});

/** Time for the last frames of a connection that no longer carries a stream. */
const lingerMs = 1_000;

/** A session of `node:http2`. */
export class NodeUpstreamSession implements UpstreamSession, StreamSession {
  fault: UpstreamError | undefined = undefined;
  private readonly session: ClientHttp2Session;
  private readonly socket: Socket;
  private readonly events: SessionEvents;
  private readonly settingsTimer: AwakeTimer | undefined;
  private lingerTimer: AwakeTimer | undefined;
  /** The streams that have not closed yet, and the cancelled ones among them. */
  private readonly streams = new Set<ClientHttp2Stream>();
  private readonly abandoned = new Set<ClientHttp2Stream>();
  private ready = false;
  private usable = true;
  private active = 0;
  private served = 0;
  private faultyStreams = 0;
  /** The last stream that the server might have processed, according to its GOAWAY. */
  private goawayLastStreamId = Number.POSITIVE_INFINITY;

  constructor(socket: Socket, settingsTimeoutMs: number, events: SessionEvents) {
    this.socket = socket;
    this.events = events;
    // Errors of the socket are ignored here, because the session's events cover them.
    socket.on("error", ignore);
    const session = nodeHttp2().connect("http://upstream", {
      ...sessionOptions,
      createConnection: () => socket,
    });
    this.session = session;
    containErrors(session, {
      faultyStreams: () => this.faultyStreams,
      onFatal: (error) => this.onFatal(error),
    });
    session.on("connect", () => {
      if (!session.destroyed) session.setLocalWindowSize(sessionWindowBytes);
    });
    session.on("remoteSettings", () => this.onSettings());
    session.on("goaway", (code, lastStreamId) => this.onGoaway(code, lastStreamId));
    session.on("error", ignore);
    session.on("close", () => this.onClose());
    if (settingsTimeoutMs > 0)
      this.settingsTimer = new AwakeTimer(() => this.onSettingsTimeout(), settingsTimeoutMs);
  }

  get maxStreams(): number {
    const { maxConcurrentStreams = maxStreamsPerSession } = this.session.remoteSettings;
    return Math.min(maxConcurrentStreams, maxStreamsPerSession);
  }

  get room(): number {
    if (!this.ready || !this.usable || this.session.closed || this.session.destroyed) return 0;
    return this.maxStreams - this.active;
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

  get isLost(): boolean {
    return this.fault !== undefined || this.session.destroyed || this.socket.destroyed;
  }

  get reused(): boolean {
    return this.served > 0;
  }

  open(request: UpstreamRequest, events: WireEvents): NodeWireStream {
    this.active++;
    this.served++;
    const hasBody = request.body !== null;
    const options = { endStream: !hasBody, waitForTrailers: hasBody };
    const stream = this.session.request(requestFields(request), options);
    this.streams.add(stream);
    return new NodeWireStream(stream, request, this, events);
  }

  /** Marks a stream as cancelled; it has been reset. */
  abandon(stream: ClientHttp2Stream): void {
    if (!this.streams.has(stream)) return;
    this.abandoned.add(stream);
    this.linger();
  }

  /**
   * Records that a stream has closed. Returns true if the server has not processed it and never will (RFC 9113 8.7).
   */
  release(stream: ClientHttp2Stream): boolean {
    this.active--;
    this.streams.delete(stream);
    this.abandoned.delete(stream);
    const { rstCode, id } = stream;
    if (rstCode === errorCode.protocolError) this.faultyStreams++;
    if (this.usable) {
      this.events.onRoom(this);
      if (this.active === 0) this.events.onIdle(this);
    } else {
      if (this.active === 0) this.session.close();
      this.linger();
    }
    return rstCode === errorCode.refusedStream || id === undefined || id > this.goawayLastStreamId;
  }

  closeIdle(): void {
    this.retire();
  }

  retire(): void {
    this.becomeUnusable();
    if (!this.session.destroyed) this.session.close();
  }

  destroy(error: UpstreamError): void {
    this.fault ??= error;
    this.becomeUnusable();
    this.session.destroy();
    this.socket.destroy();
  }

  private onSettings(): void {
    this.ready = true;
    this.settingsTimer?.clear();
    if (this.usable) this.events.onRoom(this);
  }

  private onSettingsTimeout(): void {
    this.destroy(upstreamError("connect-timeout", "no HTTP/2 settings in time", { requestSent: false }));
  }

  private onGoaway(code: number, lastStreamId: number): void {
    this.goawayLastStreamId = Math.min(this.goawayLastStreamId, lastStreamId);
    if (code !== errorCode.noError) {
      this.fault ??= upstreamError("reset", "connection closed with GOAWAY", { requestSent: true });
    }
    this.becomeUnusable();
  }

  private onFatal(error: Error): void {
    const { code } = error as NodeJS.ErrnoException;
    if (!this.ready && code === "ERR_HTTP2_ERROR") {
      this.fault ??= upstreamError("invalid", "endpoint does not speak HTTP/2", { requestSent: false });
    } else if (code === "ERR_HTTP2_ERROR" || code === "ERR_HTTP2_TOO_MANY_INVALID_FRAMES") {
      this.fault ??= upstreamError("invalid", "invalid HTTP/2 from endpoint", { requestSent: true });
    } else if (isTlsFault(code)) {
      this.fault ??= upstreamError("tls", "upstream broke off TLS", { requestSent: this.ready });
    } else {
      this.fault ??= upstreamError("reset", "connection reset", { requestSent: this.ready });
    }
    this.becomeUnusable();
  }

  private onClose(): void {
    this.settingsTimer?.clear();
    this.lingerTimer?.clear();
    this.fault ??= upstreamError("reset", "connection closed", { requestSent: this.ready });
    this.becomeUnusable();
    this.socket.destroy();
  }

  /**
   * Ends a connection that accepts no more streams and has none that is still needed. Node ends it automatically when
   * all its streams have closed, but a stream that was cancelled after a GOAWAY that does not cover it sometimes never
   * closes.
   */
  private linger(): void {
    if (this.usable || this.active > this.abandoned.size || this.socket.destroyed) return;
    this.lingerTimer ??= new AwakeTimer(() => {
      this.session.destroy();
      this.socket.destroy();
    }, lingerMs);
  }

  private becomeUnusable(): void {
    if (!this.usable) return;
    this.usable = false;
    this.events.onUnusable(this);
    this.linger();
  }
}
