import type { Fields } from "../../message/fields.ts";
import type { Chunk, HeaderList, ResponseHead } from "../../message/message.ts";
import { copyOf } from "../../sockets/copy-of.ts";
import { type BorrowedBytes, lend, type Piece } from "../../sockets/read-buffer.ts";
import { announcedIdleMs } from "./announced-idle.ts";
import { ChunkedDecoder, type ChunkedRules } from "../../http1/chunked-decoder.ts";
import { HeadCollector } from "./head-collector.ts";
import { KnownHead } from "./known-head.ts";
import { maxFields, maxHeadBytes, parseResponseHead, type ParsedResponseHead } from "./response-head.ts";

/** Events of the reader, which continues when a call has returned; `stop` may be called within a call. */
export type ResponseEvents = {
  onInformational(status: number, headers: HeaderList): void;
  /** The final head; `keepAlive` is true if the heads allow the connection to be reused. */
  onHead(head: ResponseHead, keepAlive: boolean): void;
  /** Whether views of shared memory can be passed, see `copies` of `UpstreamHandler`. Can change with the head. */
  readonly takesViews: boolean;
  /** False pauses the response. */
  onData(chunk: Chunk): boolean;
  /** The response is complete; `reusable` is false when the peer closes, or sent more than the message. */
  onComplete(trailers: HeaderList | undefined, reusable: boolean): void;
  /** 101 in response to an upgrade request; `rest` contains the bytes after the head. */
  onUpgrade(headers: Fields, rest: Buffer): void;
  /** The peer violated the protocol. */
  onInvalid(text: string): void;
  /** The peer ended the connection before the response was complete. */
  onTruncated(): void;
};

/** The properties of a request on which the framing of its response depends (RFC 9112 6.3). */
export type ExpectedResponse = {
  readonly toHead: boolean;
  /** The protocol that the request offers to upgrade to, in lower case. */
  readonly upgrade: string | undefined;
};

type Phase = "idle" | "head" | "length" | "chunked" | "until-close" | "stopped";

/** Most 1xx heads before the final one. Together they are limited to `maxHeadBytes`. */
const maxInformational = 32;
/** The largest piece that is passed on as text, which can be written together with the head. */
const maxTextBytes = 16_384;
/**
 * The same limit for a receiver of views, for which text costs another copy. Text that exists already is still used.
 */
const maxShortTextBytes = 4096;

const chunkedRules: ChunkedRules = {
  maxTrailerBytes: maxHeadBytes,
  maxTrailerFields: maxFields,
  isStrict: false,
};

/**
 * Reads the responses on a connection sequentially: 1xx heads, the final head, the body by its framing (RFC 9112 6.3),
 * trailers. Everything that violates the grammar or the limits is invalid; nothing is guessed.
 */
export class ResponseReader {
  private readonly events: ResponseEvents;
  private readonly collector = new HeadCollector();
  private readonly known: KnownHead;
  private phase: Phase = "idle";
  private expected: ExpectedResponse = { toHead: false, upgrade: undefined };
  private informational = 0;
  private informationalBytes = 0;
  private keepAlive = false;
  /** The last Keep-Alive field of the connection, and the idle timeout that it announces. */
  private keepAliveField: string | undefined = undefined;
  private announcedMs: number | undefined = undefined;
  private remaining = 0;
  private decoder = new ChunkedDecoder(chunkedRules);
  /** The part of the bytes of the current read that has been converted to text, and the index at which it begins. */
  private text = "";
  private textAt = 0;
  private receivedAny = false;

  /** `known` is shared by all connections to an endpoint. */
  constructor(events: ResponseEvents, known = new KnownHead()) {
    this.events = events;
    this.known = known;
  }

  /** True once a byte of the current response has arrived. */
  get answered(): boolean {
    return this.receivedAny;
  }

  private get stopped(): boolean {
    return this.phase === "stopped";
  }

  /** Body bytes that are announced and have not arrived; undefined outside a body. */
  get announcedBytes(): number | undefined {
    switch (this.phase) {
      case "length":
        return this.remaining;
      case "chunked":
        return this.decoder.announcedBytes;
      case "until-close":
        return 0;
      default:
        return undefined;
    }
  }

  /** The idle timeout that the peer announced, less a margin, in milliseconds; undefined if none was announced. */
  get announcedIdleMs(): number | undefined {
    return this.announcedMs;
  }

  /** Prepares for the response to a request that is about to be sent. */
  begin(expected: ExpectedResponse): void {
    this.phase = "head";
    this.expected = expected;
    this.informational = 0;
    this.informationalBytes = 0;
    this.keepAlive = true;
    this.receivedAny = false;
  }

  /** Stops all events. */
  stop(): void {
    this.phase = "stopped";
  }

  /** Reads received bytes, which it can overwrite. Returns false if no more must be read for now. */
  read(piece: Piece): boolean {
    const end = piece.bytes.length;
    this.receivedAny = true;
    this.forgetText();
    let at = 0;
    while (this.phase === "head") {
      at = this.readHead(piece, at);
      if (at >= end) return !this.stopped;
    }
    switch (this.phase) {
      case "length":
        return this.readLength(piece, at);
      case "chunked":
        return this.readChunked(piece, at);
      case "until-close":
        return this.deliver(piece, at, end);
      case "idle":
        if (at < end) this.invalid("unexpected data from upstream");
        return this.phase === "idle";
      case "stopped":
        return false;
    }
  }

  /** The peer has ended its side. */
  end(): void {
    if (this.phase === "until-close") this.complete(undefined, false);
    else if (this.phase !== "stopped") {
      this.phase = "stopped";
      this.events.onTruncated();
    }
  }

  /**
   * Reads one head from `at`. Returns the index after it, which is the end of the piece if there is no complete head.
   */
  private readHead({ bytes }: Piece, at: number): number {
    const { collector } = this;
    const found = collector.hasPart ? undefined : this.known.find(bytes, at);
    if (found !== undefined) {
      const bodyAt = at + found.octets;
      this.takeHead(found.head, found.octets, bytes, bodyAt);
      return bodyAt;
    }
    const end = bytes.length;
    const bodyAt = collector.collect(bytes, at);
    if (bodyAt < 0) {
      if (collector.problem !== undefined) this.invalid(collector.problem);
      return end;
    }
    const { text, headLength } = collector;
    const parsed = parseResponseHead(text, 0, headLength);
    if (!parsed.ok) {
      this.invalid(parsed.error);
      return end;
    }
    this.known.note(text, headLength);
    // If the head is in one piece, the text begins with it, and can contain body as well.
    if (bodyAt - headLength === at) {
      this.text = text;
      this.textAt = at;
    }
    this.takeHead(parsed.value, headLength, bytes, bodyAt);
    return bodyAt;
  }

  private takeHead(head: ParsedResponseHead, headLength: number, bytes: BorrowedBytes, bodyAt: number): void {
    if (head.status >= 200) this.takeFinalHead(head, bytes.length - bodyAt);
    else if (head.status === 101) this.takeUpgrade(head, Buffer.from(bytes.subarray(bodyAt)));
    else this.takeInformational(head, headLength);
  }

  private takeInformational({ status, headers, keepAlive }: ParsedResponseHead, headLength: number): void {
    this.informationalBytes += headLength;
    if (++this.informational > maxInformational || this.informationalBytes > maxHeadBytes) {
      return this.invalid("too many informational responses");
    }
    this.keepAlive &&= keepAlive;
    this.events.onInformational(status, [...headers.toList()]);
  }

  private takeFinalHead(parsed: ParsedResponseHead, bytesBehind: number): void {
    const { status, headers, length } = parsed;
    const bodyless = this.expected.toHead || status === 204 || status === 304;
    this.keepAlive &&= parsed.keepAlive;
    // Most servers send the same value each time.
    if (parsed.keepAliveField !== undefined && parsed.keepAliveField !== this.keepAliveField) {
      this.keepAliveField = parsed.keepAliveField;
      this.announcedMs = announcedIdleMs(parsed.keepAliveField);
    }
    this.remaining = length ?? 0;
    if (bodyless || length !== undefined) this.phase = "length";
    else if (parsed.chunked) {
      this.phase = "chunked";
      this.decoder = new ChunkedDecoder(chunkedRules);
    } else {
      this.phase = "until-close";
      this.keepAlive = false;
    }
    const isEmpty = bodyless || length === 0;
    const isWhole = isEmpty || (length !== undefined && length <= bytesBehind);
    this.events.onHead({ status, headers, length, bodyless, isWhole }, this.keepAlive);
    if (this.phase === "length" && isEmpty) this.complete(undefined, bytesBehind === 0);
  }

  private takeUpgrade(head: ParsedResponseHead, rest: Buffer): void {
    const { upgrade } = this.expected;
    // The client would read the bytes of a protocol that it did not offer as those of another one (RFC 9110 7.8).
    if (upgrade === undefined || head.upgradeTo !== upgrade) return this.invalid("unexpected upgrade");
    this.phase = "stopped";
    this.events.onUpgrade(head.headers, rest);
  }

  private readLength(piece: Piece, at: number): boolean {
    const end = piece.bytes.length;
    const to = Math.min(end, at + this.remaining);
    this.remaining -= to - at;
    const more = this.deliver(piece, at, to);
    if (this.phase !== "length") return false;
    if (this.remaining > 0) return more;
    return this.complete(undefined, to === end);
  }

  private readChunked(piece: Piece, at: number): boolean {
    const { decoder } = this;
    const size = decoder.decode(piece.bytes, at);
    // The decoder has moved the bytes.
    this.forgetText();
    if (decoder.invalid) {
      this.invalid("invalid chunked body");
      return false;
    }
    const more = this.deliver(piece, at, at + size);
    if (this.phase !== "chunked") return false;
    return decoder.done ? this.complete(decoder.trailers, decoder.endIndex === piece.bytes.length) : more;
  }

  private deliver({ owned, bytes }: Piece, from: number, to: number): boolean {
    if (from === to) return true;
    const { events, text, textAt } = this;
    if (owned) return events.onData(bytes.subarray(from, to));
    if (from >= textAt && to <= textAt + text.length) {
      return events.onData(text.slice(from - textAt, to - textAt));
    }
    return events.onData(this.passable(bytes, from, to));
  }

  /** Returns bytes of borrowed memory in a form that the receiver can use: as text, a view or a copy. */
  private passable(bytes: BorrowedBytes, from: number, to: number): Chunk {
    const { takesViews } = this.events;
    if (to - from <= (takesViews ? maxShortTextBytes : maxTextBytes))
      return bytes.toString("latin1", from, to);
    return takesViews ? lend(bytes, from, to) : copyOf(bytes, from, to);
  }

  private forgetText(): void {
    this.text = "";
    this.textAt = 0;
  }

  /** Ends the response. Returns whether the connection continues to read. */
  private complete(trailers: HeaderList | undefined, nothingFollows: boolean): boolean {
    const reusable = this.keepAlive && nothingFollows && this.announcedMs !== 0;
    this.phase = reusable ? "idle" : "stopped";
    this.events.onComplete(trailers, reusable);
    return reusable;
  }

  private invalid(text: string): void {
    this.phase = "stopped";
    this.events.onInvalid(text);
  }
}
