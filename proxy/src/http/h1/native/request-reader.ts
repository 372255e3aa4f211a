import type { RefusalReason } from "../refusal.ts";
import type { RequestHead } from "../../../message/message.ts";
import type { Piece } from "../../../sockets/read-buffer.ts";
import type { CodecContext } from "./context.ts";
import { HeldBytes } from "./held-bytes.ts";
import { KnownFields } from "./known-fields.ts";
import { type BodySource, IncomingBody } from "./incoming-body.ts";
import type { RequestHeadParser } from "./request-head-parser.ts";
import { readSemantics, type RequestSemantics } from "./request-semantics.ts";

/** Once this much waits behind a request nothing more is read. */
const maxHeldBytes = 65_536;

/** Receives what is read. After `onRefused`, `onBodyBroken` and `stop` nothing more is. */
export type RequestEvents = {
  /** The next request may begin: the response before it has left. */
  readonly takesRequest: boolean;
  /** The first bytes of a head, of which more are to come. */
  onHeadBegun(): void;
  onRequest(head: RequestHead, semantics: RequestSemantics, body: IncomingBody | null): void;
  /** Bytes are no request, or the request is not passed on; `head` as far as it was read. */
  onRefused(reason: RefusalReason, head: RequestHead | undefined): void;
  /** The client has ended its side in the middle of a request that was not passed on yet. */
  onAbandoned(): void;
  /** The rest of the body of the last request has arrived. */
  onBodyReceived(): void;
  /** That rest is not what the chunked coding allows. */
  onBodyBroken(body: IncomingBody): void;
};

/**
 * Reads requests off a connection, one after another. What arrives behind a request is held, and looked at when its turn
 * has come (RFC 9112 9.3.2).
 */
export class RequestReader {
  /** The client has ended its side: what is held is all that there is. */
  clientHasEnded = false;
  /** The body of the last request, until it has been read to its end. */
  unread: IncomingBody | null = null;
  private readonly context: CodecContext;
  private readonly events: RequestEvents;
  private readonly source: BodySource;
  /** Set inside a head that has not arrived completely. */
  private parser: RequestHeadParser | undefined = undefined;
  private readonly held = new HeldBytes();
  private readonly known = new KnownFields();
  /** How much of the memory of held bytes the front has been asked for. */
  private reservedBytes = 0;
  /** The bytes that are being looked at, and where those begin that have not been. */
  private piece: Piece | undefined = undefined;
  private pieceAt = 0;
  private isStopped = false;

  constructor(context: CodecContext, events: RequestEvents, source: BodySource) {
    this.context = context;
    this.events = events;
    this.source = source;
  }

  /** Bytes are being looked at; any change in the meantime is noticed after that. */
  get isReading(): boolean {
    return this.piece !== undefined;
  }

  /** Bytes wait for their turn. */
  get hasHeld(): boolean {
    return this.held.length > 0;
  }

  /** A head has begun to arrive, or may have: something is held. */
  get hasBegun(): boolean {
    return this.parser !== undefined || this.held.length > 0;
  }

  /** A head has begun to arrive, with more than empty lines. */
  get isInHead(): boolean {
    return this.parser?.hasBegun === true;
  }

  /** As much as was read of a head that has not arrived completely. */
  get seenHead(): RequestHead | undefined {
    return this.parser?.seen;
  }

  /** Whether more bytes can be put to use. */
  get wantsBytes(): boolean {
    return this.held.length < maxHeldBytes && this.unread?.wantsBytes !== false;
  }

  /** What has been read behind the last request; the caller may keep it. */
  get rest(): Buffer {
    const { piece, pieceAt } = this;
    if (piece === undefined) return this.held.bytes;
    return piece.owned ? piece.bytes.subarray(pieceAt) : Buffer.from(piece.bytes.subarray(pieceAt));
  }

  /** Takes what the connection has read. False: more would be held than there is memory for on all connections. */
  receive(piece: Piece): boolean {
    const at = this.held.length === 0 ? this.read(piece) : 0;
    if (!this.isStopped) this.held.add(piece, at);
    return this.account();
  }

  /** Looks at what is held, if its turn has come. */
  proceed(): void {
    if (this.isReading || this.held.length === 0 || !this.events.takesRequest) return;
    const at = this.read({ owned: true, bytes: this.held.bytes });
    this.held.consume(at);
    this.account();
  }

  /** Nothing that was read, or will be, is of interest any more. */
  stop(): void {
    this.isStopped = true;
    this.parser = undefined;
    this.unread = null;
    this.held.clear();
    this.account();
  }

  /** Looks at bytes as far as it is their turn; answers where that ends. */
  private read(piece: Piece): number {
    const end = piece.bytes.length;
    let at = 0;
    this.piece = piece;
    while (at < end && !this.isStopped) {
      if (this.unread !== null) at = this.readBody(this.unread, piece, at);
      else if (this.events.takesRequest) at = this.readHead(piece, at);
      else break;
    }
    this.piece = undefined;
    return at;
  }

  private readBody(body: IncomingBody, piece: Piece, at: number): number {
    const next = body.take(piece, at);
    if (body.broken) {
      this.stop();
      this.events.onBodyBroken(body);
      return piece.bytes.length;
    }
    if (body.received) {
      this.unread = null;
      this.events.onBodyReceived();
    }
    return next;
  }

  private readHead(piece: Piece, at: number): number {
    const { parsers } = this.context;
    const parser = this.parser ?? parsers.take();
    const next = parser.read(piece, at, this.known);
    if (next >= 0) {
      const head = parser.take();
      this.parser = undefined;
      parsers.give(parser);
      return this.begin(head, piece, next);
    }
    if (parser.refusal !== undefined) this.refuse(parser.refusal, parser.seen);
    else if (this.parser === undefined) {
      this.parser = parser;
      this.events.onHeadBegun();
    }
    return piece.bytes.length;
  }

  /** A head has arrived. What has arrived of its body is read first, so that no broken one is passed on. */
  private begin(head: RequestHead, piece: Piece, at: number): number {
    const end = piece.bytes.length;
    const semantics = readSemantics(head);
    if ("refusal" in semantics) return this.refuse(semantics.refusal, head) ?? end;
    const body = semantics.body === undefined ? null : new IncomingBody(semantics.body, this.source);
    this.pieceAt = at;
    if (body !== null && !body.received) {
      if (at < end) this.pieceAt = body.takeWithHead(piece, at);
      if (body.broken) return this.refuse("malformed-body", head) ?? end;
      if (!body.received) {
        if (this.clientHasEnded) {
          this.events.onAbandoned();
          return end;
        }
        this.unread = body;
      }
    }
    const next = this.pieceAt;
    this.events.onRequest(head, semantics, body);
    body?.keepLent();
    return next;
  }

  private refuse(reason: RefusalReason, head: RequestHead | undefined): undefined {
    this.events.onRefused(reason, head);
  }

  /** Counts what is held. */
  private account(): boolean {
    const { front } = this.context;
    const { memoryBytes } = this.held;
    const change = memoryBytes - this.reservedBytes;
    if (change > 0 && !front.reserveWaiting(change)) return false;
    if (change < 0) front.releaseWaiting(-change);
    this.reservedBytes = memoryBytes;
    return true;
  }
}
