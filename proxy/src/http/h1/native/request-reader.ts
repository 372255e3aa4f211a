import type { RefusalReason } from "../refusal.ts";
import type { RequestHead } from "../../../message/message.ts";
import type { Piece } from "../../../sockets/read-buffer.ts";
import type { CodecContext } from "./context.ts";
import { HeldBytes } from "./held-bytes.ts";
import { KnownFields } from "./known-fields.ts";
import { type BodySource, IncomingBody } from "./incoming-body.ts";
import type { RequestHeadParser } from "./request-head-parser.ts";
import { readSemantics, type RequestSemantics } from "./request-semantics.ts";

/** The number of held bytes after a request at which reading stops. */
const maxHeldBytes = 65_536;

/** Receives the requests that are read. Nothing more is read after `onRefused`, `onBodyBroken` and `stop`. */
export type RequestEvents = {
  /** True if the next request may begin, because the previous response has been sent. */
  readonly takesRequest: boolean;
  /** Called with the first bytes of a head that is not complete. */
  onHeadBegun(): void;
  onRequest(head: RequestHead, semantics: RequestSemantics, body: IncomingBody | null): void;
  /** Called if bytes are not a valid request, or the request is refused; `head` has the part that was read. */
  onRefused(reason: RefusalReason, head: RequestHead | undefined): void;
  /** Called if the client has ended its side in the middle of a request that was not passed on yet. */
  onAbandoned(): void;
  /** Called when the rest of the body of the last request has arrived. */
  onBodyReceived(): void;
  /** Called if the chunked coding of that rest is malformed. */
  onBodyBroken(body: IncomingBody): void;
};

/**
 * Reads the requests of a connection sequentially. Bytes that arrive after a request are held, and parsed when their
 * turn comes (RFC 9112 9.3.2).
 */
export class RequestReader {
  /** True once the client has ended its side, so that no bytes follow the held ones. */
  clientHasEnded = false;
  /** The body of the last request, until it has been read to its end. */
  unread: IncomingBody | null = null;
  private readonly context: CodecContext;
  private readonly events: RequestEvents;
  private readonly source: BodySource;
  /** The parser of a head that has not arrived completely; undefined outside of such a head. */
  private parser: RequestHeadParser | undefined = undefined;
  private readonly held = new HeldBytes();
  private readonly known = new KnownFields();
  /** The memory that is reserved at the front for held bytes. */
  private reservedBytes = 0;
  /** The piece that is being parsed, and the index of the first byte after the last request. */
  private piece: Piece | undefined = undefined;
  private pieceAt = 0;
  private isStopped = false;

  constructor(context: CodecContext, events: RequestEvents, source: BodySource) {
    this.context = context;
    this.events = events;
    this.source = source;
  }

  /** True while bytes are being parsed; state changes in the meantime are noticed afterwards. */
  get isReading(): boolean {
    return this.piece !== undefined;
  }

  /** True if bytes are held. */
  get hasHeld(): boolean {
    return this.held.length > 0;
  }

  /** True if a head has begun to arrive, or might have, because bytes are held. */
  get hasBegun(): boolean {
    return this.parser !== undefined || this.held.length > 0;
  }

  /** True if a head has begun to arrive, with more than empty lines. */
  get isInHead(): boolean {
    return this.parser?.hasBegun === true;
  }

  /** The part that was read of an incomplete head. */
  get seenHead(): RequestHead | undefined {
    return this.parser?.seen;
  }

  /** Whether more bytes of the connection are accepted. */
  get wantsBytes(): boolean {
    return this.held.length < maxHeldBytes && this.unread?.wantsBytes !== false;
  }

  /** The bytes that were read after the last request; the caller may keep them. */
  get rest(): Buffer {
    const { piece, pieceAt } = this;
    if (piece === undefined) return this.held.bytes;
    return piece.owned ? piece.bytes.subarray(pieceAt) : Buffer.from(piece.bytes.subarray(pieceAt));
  }

  /** Reads or holds a piece. Returns false if the held bytes of all connections would exceed their memory. */
  receive(piece: Piece): boolean {
    const at = this.held.length === 0 ? this.read(piece) : 0;
    if (!this.isStopped) this.held.add(piece, at);
    return this.account();
  }

  /** Reads the held bytes, if their turn has come. */
  proceed(): void {
    if (this.isReading || this.held.length === 0 || !this.events.takesRequest) return;
    const at = this.read({ owned: true, bytes: this.held.bytes });
    this.held.consume(at);
    this.account();
  }

  /** Stops reading, and drops the held bytes. */
  stop(): void {
    this.isStopped = true;
    this.parser = undefined;
    this.unread = null;
    this.held.clear();
    this.account();
  }

  /** Reads a piece as far as requests are accepted; returns the index at which it stopped. */
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

  /**
   * Begins a request with a complete head. The part of its body at hand is read first, so that no malformed one is
   * passed on.
   */
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

  /** Adjusts the reserved memory to the held bytes; returns false if too much is held. */
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
