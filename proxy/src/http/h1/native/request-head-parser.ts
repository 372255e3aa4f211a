import type { RefusalReason } from "../refusal.ts";
import { FieldPlaces } from "../../../message/field-lines.ts";
import { Fields } from "../../../message/fields.ts";
import type { HeaderList, HttpVersion, RequestHead } from "../../../message/message.ts";
import type { BorrowedBytes, Piece } from "../../../sockets/read-buffer.ts";
import { HeldBytes } from "./held-bytes.ts";
import type { KnownFields } from "./known-fields.ts";
import {
  carriageReturn,
  colon,
  isBlank,
  isTargetOctet,
  isTokenOctet,
  isValueOctet,
  lineFeed,
  slash,
  space,
  tab,
} from "../../../message/octets.ts";
import { isCodingName, methodOf, startsWith } from "./head-octets.ts";
import { isRequestTarget } from "./request-target.ts";

/** The limits of a head, in bytes and as a number of fields. */
export type HeadLimits = {
  /** For the target, and for the method, which may be any token (RFC 9110 9.1). */
  readonly maxTargetBytes: number;
  /** For all field lines together, line ends included. */
  readonly maxFieldBytes: number;
  readonly maxFields: number;
};

/** The most octets of a version; more after the target cannot be one. */
const maxVersionBytes = 16;
/** Most empty lines before a request (RFC 9112 2.2). */
const maxEmptyLines = 8;
const crlfBytes = 2;
/** The length of a field line without its name and value: colon, space and CRLF. */
const fieldSyntaxBytes = 4;

/** The states of the parser, in the order of a head: the part before which it stopped. */
const atStart = 0;
const atEmptyLineEnd = 1;
const inMethod = 2;
const inTarget = 3;
const inVersion = 4;
const atRequestLineEnd = 5;
const atFieldStart = 6;
const inName = 7;
const inBlanks = 8;
const inValue = 9;
const atFieldEnd = 10;
const atHeadEnd = 11;

/**
 * Parses the head of a request (RFC 9112 3 and 5) from the bytes of a connection, in any number of pieces. Each octet
 * is examined once, however small the pieces are. A head that cannot become valid, or exceeds a limit, is refused at
 * that octet. Strict: only CRLF ends lines, one space separates the parts of the request line, no line is folded, no
 * whitespace precedes a colon, methods and names are tokens, and values have no control characters.
 *
 * Once the head is complete, one string is created from it, and its parts are slices of that string.
 */
export class RequestHeadParser {
  /** The reason why the head is refused; undefined if it is not. */
  refusal: RefusalReason | undefined = undefined;
  private readonly limits: HeadLimits;
  /** The beginning of a head that arrives in several pieces. */
  private readonly held = new HeldBytes();
  private state = atStart;
  /**
   * The position at which the parser continues. This and all other positions are relative to the first byte of the
   * head.
   */
  private position = 0;
  private emptyLines = 0;
  private methodAt = 0;
  private targetAt = 0;
  private targetEnd = 0;
  private versionAt = 0;
  private fieldAt = 0;
  private fieldBytes = 0;
  /** Four positions for each field: start and end of its name, start and end of its value. */
  private readonly fields: number[] = [];
  private fieldCount = 0;
  private method = "";
  private target = "";
  private version: HttpVersion = "1.1";
  private headers = noFields;
  private readonly places = new FieldPlaces();
  /** Whether all lines so far have one space after the colon and no whitespace after the value. */
  private isPlain = true;

  constructor(limits: HeadLimits) {
    this.limits = limits;
  }

  /**
   * Continues parsing in a piece, from index `at`. Returns the index after the head if it is complete, which `take`
   * then returns; -1 if it is not complete, or is refused (`refusal`). `known` are fields that the client has sent
   * before, under the same limits.
   */
  read(piece: Piece, at: number, known: KnownFields): number {
    const { held } = this;
    if (held.length === 0) {
      const end = this.scanWhole(piece.bytes, at, known);
      if (end < 0 && this.refusal === undefined) held.add(piece, at);
      return end < 0 ? -1 : at + end;
    }
    const before = held.length;
    held.add(piece, at);
    const end = this.scan(held.bytes, 0);
    return end < 0 ? -1 : at + end - before;
  }

  /** False while only empty lines have been read. */
  get hasBegun(): boolean {
    return this.state > atEmptyLineEnd;
  }

  /** Returns the completed head, and resets the parser for the next one. */
  take(): RequestHead {
    const head = this.head();
    this.reset();
    return head;
  }

  /** The part that was read of a refused or incomplete head; undefined if its target was not read. */
  get seen(): RequestHead | undefined {
    if (this.refusal === undefined && this.state > inTarget) this.takeText(this.held.bytes, 0);
    return this.target === "" ? undefined : this.head();
  }

  private head(): RequestHead {
    const { version, method, target, headers } = this;
    return { version, method, target, authority: undefined, scheme: undefined, headers };
  }

  private reset(): void {
    this.held.clear();
    this.state = atStart;
    this.position = 0;
    this.emptyLines = 0;
    this.fieldBytes = 0;
    this.fieldCount = 0;
    this.method = "";
    this.version = "1.1";
    this.target = "";
    this.headers = noFields;
    this.isPlain = true;
  }

  /** Like `scan`, for a head of which nothing has been read before; tries `known` fields first. */
  private scanWhole(bytes: BorrowedBytes, base: number, known: KnownFields): number {
    if (!this.scanRequestLine(bytes, base)) return -1;
    const { position } = this;
    const knownOctets = known.find(bytes, base + position);
    if (knownOctets > 0) {
      this.headers = known.take() ?? noFields;
      this.target = bytes.toString("latin1", base + this.targetAt, base + this.targetEnd);
      return position + knownOctets;
    }
    const end = this.scanFields(bytes, base);
    if (end >= 0 && this.fieldCount > 0) known.note(this.headers, bytes, base + position, base + end);
    return end;
  }

  /** Scans a head that begins at `base`; returns its length if it is complete, otherwise -1. */
  private scan(bytes: BorrowedBytes, base: number): number {
    if (this.state < atFieldStart && !this.scanRequestLine(bytes, base)) return -1;
    return this.scanFields(bytes, base);
  }

  /** Scans the request line; returns whether it is complete. */
  private scanRequestLine(bytes: BorrowedBytes, base: number): boolean {
    const end = bytes.length;
    let i = base + this.position;
    let { state } = this;
    while (state <= atEmptyLineEnd) {
      if (i === end) return this.pause(state, i - base);
      const octet = bytes[i] as number;
      if (state === atEmptyLineEnd) {
        if (octet !== lineFeed || ++this.emptyLines > maxEmptyLines) return this.refuse("malformed");
        state = atStart;
        i++;
      } else if (octet === carriageReturn) {
        state = atEmptyLineEnd;
        i++;
      } else {
        this.methodAt = i - base;
        state = inMethod;
      }
    }
    if (state === inMethod) {
      while (i < end && isTokenOctet[bytes[i] as number] === 1) i++;
      const size = i - base - this.methodAt;
      if (size > this.limits.maxTargetBytes) return this.refuse("uri-too-long");
      if (i === end) return this.pause(state, i - base);
      if (bytes[i] !== space || size === 0) return this.refuse("malformed");
      this.method = methodOf(bytes, base + this.methodAt, i);
      i++;
      this.targetAt = i - base;
      state = inTarget;
    }
    if (state === inTarget) {
      while (i < end && isTargetOctet[bytes[i] as number] === 1) i++;
      const at = base + this.targetAt;
      const { maxTargetBytes } = this.limits;
      this.targetEnd = Math.min(i - base, this.targetAt + maxTargetBytes);
      if (i - at > maxTargetBytes) return this.refuseLine("uri-too-long", bytes, base);
      if (i === end) return this.pause(state, i - base);
      if (i === at) return this.refuse("malformed");
      // A request line of HTTP/0.9.
      if (bytes[i] === carriageReturn) return this.refuseLine("unknown-version", bytes, base);
      if (bytes[i] !== space) return this.refuseLine("malformed", bytes, base);
      i++;
      this.versionAt = i - base;
      state = inVersion;
    }
    if (state === inVersion) {
      while (i < end && isTargetOctet[bytes[i] as number] === 1) i++;
      const at = base + this.versionAt;
      if (i - at > maxVersionBytes) return this.refuseLine("malformed", bytes, base);
      if (i === end) return this.pause(state, i - base);
      if (bytes[i] !== carriageReturn) return this.refuseLine("malformed", bytes, base);
      if (!this.takeVersion(bytes, base, i)) return false;
      i++;
      state = atRequestLineEnd;
    }
    if (i === end) return this.pause(state, i - base);
    if (bytes[i] !== lineFeed) return this.refuseLine("malformed", bytes, base);
    this.state = atFieldStart;
    this.position = i + 1 - base;
    return true;
  }

  private takeVersion(bytes: BorrowedBytes, base: number, end: number): boolean {
    const at = base + this.versionAt;
    if (end - at === 8 && startsWith(bytes, at, "HTTP/1.1")) this.version = "1.1";
    else if (end - at === 8 && startsWith(bytes, at, "HTTP/1.0")) this.version = "1.0";
    else {
      const isVersion = /^HTTP\/\d+(?:\.\d+)?$/.test(bytes.toString("latin1", at, end));
      return this.refuseLine(isVersion ? "unknown-version" : "malformed", bytes, base);
    }
    if (bytes[base + this.targetAt] === slash && this.method !== "CONNECT") return true;
    const target = bytes.toString("latin1", base + this.targetAt, base + this.targetEnd);
    return isRequestTarget(this.method, target) || this.refuseLine("malformed", bytes, base);
  }

  /** Scans the fields; returns the length of the head if it is complete, otherwise -1. */
  private scanFields(bytes: BorrowedBytes, base: number): number {
    const end = bytes.length;
    const { fields } = this;
    let i = base + this.position;
    let { state } = this;
    for (;;) {
      if (i === end) return this.pauseInFields(state, bytes, base);
      if (state === atFieldStart) {
        if (bytes[i] === carriageReturn) {
          state = atHeadEnd;
          i++;
          continue;
        }
        this.fieldAt = i - base;
        state = inName;
      }
      if (state === inName) {
        while (i < end && isTokenOctet[bytes[i] as number] === 1) i++;
        if (i === end) continue;
        const nameEnd = i - base;
        if (bytes[i] !== colon || nameEnd === this.fieldAt)
          return this.refuseFields("malformed", bytes, base);
        fields[4 * this.fieldCount] = this.fieldAt;
        fields[4 * this.fieldCount + 1] = nameEnd;
        i++;
        state = inBlanks;
      }
      if (state === inBlanks) {
        while (i < end && isBlank(bytes[i] as number)) i++;
        if (i === end) continue;
        fields[4 * this.fieldCount + 2] = i - base;
        state = inValue;
      }
      if (state === inValue) {
        while (i < end && isValueOctet[bytes[i] as number] === 1) i++;
        if (i === end) continue;
        if (bytes[i] !== carriageReturn) return this.refuseFields("malformed", bytes, base);
        i++;
        state = atFieldEnd;
        if (i === end) continue;
      }
      if (bytes[i] !== lineFeed) return this.refuseFields("malformed", bytes, base);
      i++;
      if (state === atHeadEnd) {
        this.takeText(bytes, base);
        return i - base;
      }
      const refusal = this.countField(bytes, base, i - base);
      if (refusal !== undefined) return this.refuseFields(refusal, bytes, base);
      state = atFieldStart;
    }
  }

  /** Completes a field line; returns the reason for refusing it, if any. */
  private countField(bytes: BorrowedBytes, base: number, lineEnd: number): RefusalReason | undefined {
    const { fields, limits } = this;
    const at = 4 * this.fieldCount;
    const valueAt = fields[at + 2] as number;
    let valueEnd = lineEnd - 2;
    let hasTab = false;
    while (valueEnd > valueAt && isBlank(bytes[base + valueEnd - 1] as number)) {
      hasTab ||= bytes[base + valueEnd - 1] === tab;
      valueEnd--;
    }
    fields[at + 3] = valueEnd;
    this.fieldCount++;
    const nameEnd = fields[at + 1] as number;
    const isPlain =
      valueAt === nameEnd + 2 && valueEnd + 2 === lineEnd && bytes[base + nameEnd + 1] === space;
    if (!isPlain) this.isPlain = false;
    // Not every parser accepts a tab as whitespace there, and all must agree on where the body ends.
    if (hasTab && isCodingName(bytes, base + this.fieldAt, base + nameEnd)) {
      return "malformed";
    }
    const plainBytes = nameEnd - this.fieldAt + valueEnd - valueAt + fieldSyntaxBytes;
    this.fieldBytes += Math.max(lineEnd - this.fieldAt, plainBytes);
    if (this.fieldBytes > limits.maxFieldBytes) return "header-too-large";
    return this.fieldCount > limits.maxFields ? "too-many-headers" : undefined;
  }

  /** Creates the string of the head up to the end of its last complete field line, and splits it into its parts. */
  private takeText(bytes: BorrowedBytes, base: number): void {
    const { fields, fieldCount, targetAt, targetEnd, places } = this;
    const end = fieldCount === 0 ? targetEnd : (fields[4 * fieldCount - 1] as number) + crlfBytes;
    const text = bytes.toString("latin1", base + targetAt, base + end);
    this.target = text.slice(0, targetEnd - targetAt);
    if (fieldCount === 0) return;
    places.begin();
    for (let at = 0; at < 4 * fieldCount; at += 4) {
      places.add(text, (fields[at] as number) - targetAt, (fields[at + 1] as number) - targetAt);
    }
    const lines = this.isPlain ? places.finish(text, end - targetAt) : undefined;
    this.headers = lines === undefined ? Fields.checked(this.listOf(text)) : Fields.received(lines);
  }

  /** Returns the fields of a head that is not in the form in which the proxy writes it. */
  private listOf(text: string): HeaderList {
    const { fields, fieldCount, targetAt } = this;
    const list: HeaderList = [];
    for (let at = 0; at < 4 * fieldCount; at += 4) {
      list.push(
        text.slice((fields[at] as number) - targetAt, (fields[at + 1] as number) - targetAt),
        text.slice((fields[at + 2] as number) - targetAt, (fields[at + 3] as number) - targetAt),
      );
    }
    return list;
  }

  private pauseInFields(state: number, bytes: BorrowedBytes, base: number): -1 {
    const unended = state === atFieldStart || state === atHeadEnd ? 0 : bytes.length - base - this.fieldAt;
    if (this.fieldBytes + unended > this.limits.maxFieldBytes) {
      return this.refuseFields("header-too-large", bytes, base);
    }
    this.pause(state, bytes.length - base);
    return -1;
  }

  private pause(state: number, position: number): false {
    this.state = state;
    this.position = position;
    return false;
  }

  private refuseFields(reason: RefusalReason, bytes: BorrowedBytes, base: number): -1 {
    this.takeText(bytes, base);
    this.refuse(reason);
    return -1;
  }

  private refuseLine(reason: RefusalReason, bytes: BorrowedBytes, base: number): false {
    this.takeText(bytes, base);
    return this.refuse(reason);
  }

  private refuse(reason: RefusalReason): false {
    this.refusal = reason;
    return false;
  }
}

/** The fields of a head without any, or of which none was read; nothing is added to them. */
const noFields = Fields.none();
