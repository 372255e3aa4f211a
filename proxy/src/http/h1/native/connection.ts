import type { ClientConnection } from "../../../exchange/client-connection.ts";
import type { FrontClock } from "../clock.ts";
import type { FrontConnection, FrontContext } from "../context.ts";
import type { FrontEvent } from "../events.ts";
import { HalfCloseProbe } from "../half-close-probe.ts";
import {
  type ConnectionPhase,
  discardTimeoutMs,
  lingerArrivingMs,
  lingerMs,
  maxDiscardedBytes,
} from "../phase.ts";
import { sweepRequest } from "../sweep-request.ts";
import { refusalEvent, type RefusalReason } from "../refusal.ts";
import { ResponseWrites } from "../../response-writes.ts";
import type { ClientCloseReason, RequestHead } from "../../../message/message.ts";
import type { Piece } from "../../../sockets/read-buffer.ts";
import type { ChunkedRules } from "../../../http1/chunked-decoder.ts";
import { Http1ClientStream, type StreamConnection } from "./client-stream.ts";
import type { CodecContext } from "./context.ts";
import type { BodySource, IncomingBody } from "./incoming-body.ts";
import { type RequestEvents, RequestReader } from "./request-reader.ts";
import type { RequestSemantics } from "./request-semantics.ts";
import { renderRefusal } from "./response-text.ts";
import type { Transport, TransportReceiver, TunnelEnd } from "../../../sockets/transport.ts";
import { awake } from "../../../timing/awake-clock.ts";

/** An HTTP/1 connection from its first request to its end. */
export class Http1Connection
  implements FrontConnection, StreamConnection, TransportReceiver, RequestEvents, BodySource
{
  readonly front: FrontContext;
  readonly chunkedRules: ChunkedRules;
  readonly transport: Transport;
  readonly writes: ResponseWrites;
  private readonly client: ClientConnection;
  private readonly spentMs: number;
  private readonly reader: RequestReader;
  private phase: ConnectionPhase = "idle";
  private current: Http1ClientStream | null = null;
  /** True if the last response is delimited by the end of the connection. */
  private endsByClosing = false;
  private requests = 0;
  private deadlineMs: number;
  /** The last request whose head did not arrive in one piece, and when its first bytes arrived. */
  private begunRequest = -1;
  private begunAtMs = 0;
  /** How long to linger once the end of the proxy's side has been written; 0 once that time runs. */
  private lingerForMs = 0;
  private isReading = true;
  probe: HalfCloseProbe | undefined = undefined;

  /** `spentMs` is the time since the first bytes of the first head arrived. */
  constructor(transport: Transport, client: ClientConnection, context: CodecContext, spentMs = 0) {
    this.transport = transport;
    this.client = client;
    this.spentMs = spentMs;
    this.front = context.front;
    this.chunkedRules = context.chunkedRules;
    this.reader = new RequestReader(context, this, this);
    const { responseMemory, limits, clock } = context.front;
    this.deadlineMs = clock.deadline(limits.headerTimeoutMs);
    this.writes = new ResponseWrites(transport, responseMemory, limits.writeTimeoutMs, {
      resume: () => this.current?.onDrain?.(),
      leave: (reason) => this.leaveSlowClient(reason),
    });
  }

  get clock(): FrontClock {
    return this.front.clock;
  }

  get bodyTimeoutMs(): number {
    return this.front.limits.bodyTimeoutMs;
  }

  get openRequests(): number {
    return this.phase === "busy" || this.phase === "handed-over" ? 1 : 0;
  }

  /** The bytes held by the transport; undefined (unknown) if it reports sent bytes late, so that some always wait. */
  get pendingBytes(): number | undefined {
    const { transport } = this;
    return transport.reportsLate ? undefined : transport.waitingBytes;
  }

  get takesRequest(): boolean {
    return this.phase === "idle" && this.transport.waitingBytes === 0;
  }

  receive(piece: Piece): void {
    if (!this.isOpen) return;
    if (this.reader.receive(piece)) return this.afterReading();
    this.report({ reason: "pipelining", status: 0 });
    this.leave("client-closed");
  }

  ended(): void {
    this.reader.clientHasEnded = true;
    switch (this.phase) {
      case "busy":
        if (this.reader.unread !== null) this.leave("client-closed");
        else this.probe = new HalfCloseProbe(awake.nowMs);
        return;
      case "discarding":
        return this.close(0);
      case "idle":
        return this.proceed();
      case "closing":
      case "handed-over":
        return;
    }
  }

  taken(): void {
    if (this.current === null) this.proceed();
    else this.current.taken();
  }

  closed(): void {
    this.front.forget(this);
    this.leave("client-closed");
  }

  onHeadBegun(): void {
    this.begunRequest = this.requests;
    this.begunAtMs = awake.nowMs;
    this.deadlineMs = this.clock.deadline(
      this.front.limits.headerTimeoutMs,
      this.requests === 0 ? this.spentMs : 0,
    );
  }

  onRequest(head: RequestHead, semantics: RequestSemantics, body: IncomingBody | null): void {
    const stream = new Http1ClientStream(this, head, semantics, body);
    this.requests++;
    this.phase = "busy";
    this.current = stream;
    if (this.reader.clientHasEnded) this.probe = new HalfCloseProbe(awake.nowMs);
    try {
      this.front.handler(this.client, head, stream);
    } catch (error) {
      this.report({ reason: "handler-failed", status: 0, error });
      this.leave("client-closed");
    }
  }

  onRefused(reason: RefusalReason, head: RequestHead | undefined): void {
    this.report(refusalEvent(reason, head, this.headMs));
    this.transport.writeText(renderRefusal(reason, head?.method));
    this.close(lingerArrivingMs);
  }

  onAbandoned(): void {
    this.close(0);
  }

  onBodyReceived(): void {
    if (this.phase === "discarding") this.becomeIdle();
  }

  onBodyBroken(body: IncomingBody): void {
    if (this.phase === "discarding") return this.close(lingerMs);
    this.report({ reason: "malformed-body", status: 0 });
    body.abort("malformed");
  }

  bodyWanted(): void {
    this.readAsWanted();
  }

  responseEnded(stream: Http1ClientStream): void {
    const { unread } = this.reader;
    this.current = null;
    this.endsByClosing = stream.endsByClosing;
    this.probe = undefined;
    this.writes.watch();
    if (!stream.keepAlive) {
      this.close(stream.requestReceived ? lingerMs : lingerArrivingMs);
    } else if (unread === null) {
      this.becomeIdle();
      this.proceed();
    } else {
      this.phase = "discarding";
      this.deadlineMs = this.clock.deadline(discardTimeoutMs);
      unread.discard();
      this.readAsWanted();
    }
  }

  mayStayOpen({ body, requestReceived }: Http1ClientStream): boolean {
    const { limits, draining } = this.front;
    if (draining || this.client.listener.draining) return false;
    if (this.reader.clientHasEnded && this.reader.rest.length === 0) return false;
    if (limits.maxRequestsPerConnection > 0 && this.requests >= limits.maxRequestsPerConnection) {
      this.report({ reason: "requests-per-connection", status: 0 });
      return false;
    }
    if (body?.broken === true) return false;
    return requestReceived || (body?.length ?? Number.POSITIVE_INFINITY) <= maxDiscardedBytes;
  }

  cut(options: { readonly reset: boolean }): void {
    if (options.reset) this.transport.reset();
    else this.transport.destroy();
  }

  /** Hands the transport over. This connection then only waits for its end. */
  handOver(text: string): TunnelEnd {
    const { transport } = this;
    const head = this.reader.rest;
    this.phase = "handed-over";
    this.current = null;
    this.reader.stop();
    transport.writeText(text);
    this.writes.forget();
    transport.whenClosed(() => this.closed());
    return { transport, head };
  }

  drain(): void {
    if (this.takesRequest && !this.reader.hasBegun && !this.transport.hasUnread) this.close(lingerMs);
  }

  destroy(): void {
    this.leave("shutdown");
  }

  sweep(): void {
    const { nowMs } = this.clock;
    this.writes.sweep(nowMs);
    switch (this.phase) {
      case "idle":
        return this.sweepIdle(nowMs);
      case "busy":
        if (this.current !== null) sweepRequest(this.current, this, nowMs);
        return;
      case "discarding":
        if (nowMs >= this.deadlineMs) this.close(lingerMs);
        return;
      case "closing":
        return this.sweepClosing(nowMs);
      case "handed-over":
        return;
    }
  }

  report(event: Omit<FrontEvent, "connection">): void {
    this.front.report({ ...event, connection: this.client });
  }

  /** The time since the first byte of the head that is being read, in milliseconds. */
  private get headMs(): number {
    const spentMs = this.requests === 0 ? this.spentMs : 0;
    return this.begunRequest === this.requests ? spentMs + awake.nowMs - this.begunAtMs : spentMs;
  }

  private get isOpen(): boolean {
    return this.phase !== "closing" && this.phase !== "handed-over";
  }

  /** Continues with the bytes that the client has already sent. */
  private proceed(): void {
    if (this.reader.isReading) return;
    this.reader.proceed();
    this.afterReading();
  }

  private afterReading(): void {
    const { reader } = this;
    if (!this.isOpen) return;
    if (this.phase === "idle" && (reader.hasHeld || reader.clientHasEnded)) {
      // Held requests wait until the last response has been sent.
      if (!this.takesRequest) this.transport.whenTaken();
      else if (!reader.hasHeld) return this.endIdle();
    }
    this.readAsWanted();
  }

  /** Called when the client has ended its side between two requests, or inside a head. */
  private endIdle(): void {
    if (this.reader.isInHead) this.onRefused("malformed", this.reader.seenHead);
    else this.close(0);
  }

  /** Resumes or pauses the transport, depending on whether the reader accepts more bytes. */
  private readAsWanted(): void {
    const { wantsBytes, isReading } = this.reader;
    if (wantsBytes === this.isReading || isReading || !this.isOpen) return;
    this.isReading = wantsBytes;
    if (wantsBytes) this.transport.resume();
    else this.transport.pause();
  }

  private becomeIdle(): void {
    this.phase = "idle";
    this.deadlineMs = this.clock.deadline(this.front.limits.idleTimeoutMs);
  }

  /** Ends the proxy's side. Later bytes are ignored until the client ends its side too, for at most `lingerForMs`. */
  private close(lingerForMs: number): void {
    this.phase = "closing";
    this.reader.unread?.discard();
    this.reader.stop();
    this.lingerForMs = lingerForMs;
    this.deadlineMs = this.clock.nowMs;
    this.writes.watch();
    this.transport.end();
    if (!this.isReading) this.transport.resume();
    this.isReading = true;
  }

  /** Called when the client reads too slowly. */
  private leaveSlowClient(reason: ClientCloseReason): void {
    if (reason === "timeout") this.report({ reason: "write-timeout", status: 0 });
    this.leave(reason);
  }

  /** True if a plain end of the connection would make an incomplete response look complete. */
  private get cutsResponse(): boolean {
    return this.current === null
      ? this.endsByClosing && this.transport.waitingBytes > 0
      : this.current.endsByClosing;
  }

  /** Ends the connection without a further answer. */
  private leave(reason: ClientCloseReason): void {
    const { current, cutsResponse } = this;
    this.phase = "closing";
    this.current = null;
    this.reader.stop();
    this.cut({ reset: cutsResponse });
    this.writes.forget();
    current?.clientLeft(reason);
  }

  private sweepIdle(nowMs: number): void {
    const { reader } = this;
    if (!this.takesRequest || reader.hasHeld) return;
    if (this.front.draining && !reader.hasBegun) return this.close(lingerMs);
    if (nowMs < this.deadlineMs) return;
    if (reader.hasBegun) return this.onRefused("header-timeout", reader.seenHead);
    this.report({ reason: "idle-timeout", status: 0 });
    this.close(lingerMs);
  }

  private sweepClosing(nowMs: number): void {
    if (!this.transport.finished) return;
    if (this.lingerForMs > 0) {
      this.deadlineMs = this.clock.deadline(this.lingerForMs);
      this.lingerForMs = 0;
    } else if (nowMs >= this.deadlineMs) {
      this.transport.destroy();
    }
  }
}
