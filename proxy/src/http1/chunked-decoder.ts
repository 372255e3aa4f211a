import type { Fields } from "../message/fields.ts";
import type { HeaderList } from "../message/message.ts";
import type { BorrowedBytes } from "../sockets/read-buffer.ts";
import {
  backslash,
  carriageReturn,
  equals,
  isBlank,
  isTokenOctet,
  isValueOctet,
  lineFeed,
  quote,
  semicolon,
} from "../message/octets.ts";
import { readFields } from "./read-fields.ts";

/** The differences between the two directions. */
export type ChunkedRules = {
  /** The limits of a trailer section. */
  readonly maxTrailerBytes: number;
  readonly maxTrailerFields: number;
  /**
   * If true, extensions must follow their grammar, without the whitespace that was once allowed (RFC 9112 7.1.1), and
   * no trailer may frame a body, since bytes of clients must be unambiguous. If false, any extension without control
   * characters is skipped.
   */
  readonly isStrict: boolean;
};

/** Most digits of a chunk size, leading zeros included: 2^52 bytes. */
const maxSizeDigits = 13;
/** Most bytes of extensions on one chunk. */
const maxExtensionBytes = 4096;
/** Most bytes of all extensions of a client's body: each of its chunks could be one byte with an extension. */
const maxAllExtensionBytes = 16_384;

type State =
  | "size"
  | "blank-after-size"
  | "extension"
  | "extension-name-start"
  | "extension-name"
  | "extension-value-start"
  | "extension-value"
  | "extension-quoted"
  | "extension-escape"
  | "extension-end"
  | "size-line-feed"
  | "data"
  | "data-carriage-return"
  | "data-line-feed"
  | "trailer-start"
  | "trailer"
  | "trailer-line-feed"
  | "last-line-feed"
  | "done"
  | "invalid";

/**
 * Decodes the chunked coding (RFC 9112 7.1) of a body as it arrives. Decodes in place: the data of a piece is moved to
 * its start, so that many small chunks become one. Accepts only CRLF, sizes of at most `maxSizeDigits`, extensions of
 * at most `maxExtensionBytes` per chunk, and trailers within the limits of `rules`. The states "done" and "invalid" are
 * final.
 */
export class ChunkedDecoder {
  private state: State = "size";
  private digits = 0;
  private remaining = 0;
  private readonly rules: ChunkedRules;
  private extensionBytes = 0;
  private allExtensionBytes = 0;
  private trailerText = "";
  private parsedTrailers: HeaderList | undefined = undefined;
  /** Index after the last byte of the message in the piece that completed it. */
  endIndex = 0;

  constructor(rules: ChunkedRules) {
    this.rules = rules;
  }

  get done(): boolean {
    return this.state === "done";
  }

  get invalid(): boolean {
    return this.state === "invalid";
  }

  /** The trailers of a completed message; undefined if it had none. */
  get trailers(): HeaderList | undefined {
    return this.parsedTrailers;
  }

  /** Bytes of the current chunk that have not arrived. */
  get announcedBytes(): number {
    return this.state === "data" ? this.remaining : 0;
  }

  /** Decodes `bytes` from index `start` to their end; returns how many bytes of data are at `start` afterwards. */
  decode(bytes: BorrowedBytes, start: number): number {
    const end = bytes.length;
    let out = start;
    let i = start;
    while (i < end) {
      switch (this.state) {
        case "data": {
          const size = Math.min(this.remaining, end - i);
          if (out !== i) bytes.copyWithin(out, i, i + size);
          out += size;
          i += size;
          this.remaining -= size;
          if (this.remaining === 0) this.state = "data-carriage-return";
          break;
        }
        case "trailer-start":
        case "trailer":
        case "trailer-line-feed":
          i = this.readTrailers(bytes, i);
          break;
        default:
          this.state = this.step(bytes[i] as number);
          i++;
          if (this.state === "done") this.endIndex = i;
      }
      if (this.state === "done" || this.state === "invalid") return out - start;
    }
    return out - start;
  }

  /** Processes one byte of the framing between the data, and returns the next state. */
  private step(code: number): State {
    switch (this.state) {
      case "size": {
        const digit = hexDigit(code);
        if (digit >= 0) {
          this.remaining = this.remaining * 16 + digit;
          return ++this.digits > maxSizeDigits ? "invalid" : "size";
        }
        return this.digits === 0 ? "invalid" : this.afterSize(code);
      }
      case "blank-after-size":
        return code === carriageReturn ? "invalid" : this.afterSize(code);
      case "size-line-feed":
        if (code !== lineFeed) return "invalid";
        return this.remaining === 0 ? "trailer-start" : "data";
      case "data-carriage-return":
        return code === carriageReturn ? "data-line-feed" : "invalid";
      case "data-line-feed":
        this.digits = 0;
        this.extensionBytes = 0;
        return code === lineFeed ? "size" : "invalid";
      case "last-line-feed":
        return code === lineFeed ? this.finish() : "invalid";
      default:
        return code === carriageReturn || this.countExtension() ? this.extensionStep(code) : "invalid";
    }
  }

  /** Counts a byte between a size and the end of its line; returns false if there are too many. */
  private countExtension(): boolean {
    if (++this.extensionBytes > maxExtensionBytes) return false;
    return !this.rules.isStrict || ++this.allExtensionBytes <= maxAllExtensionBytes;
  }

  /** Processes one byte of the extensions of a chunk, and returns the next state. */
  private extensionStep(code: number): State {
    switch (this.state) {
      case "extension":
        if (code === carriageReturn) return "size-line-feed";
        return isValueOctet[code] === 1 ? "extension" : "invalid";
      case "extension-name-start":
        return isTokenOctet[code] === 1 ? "extension-name" : "invalid";
      case "extension-name":
        if (code === equals) return "extension-value-start";
        return isTokenOctet[code] === 1 ? "extension-name" : afterExtension(code);
      case "extension-value-start":
        if (code === quote) return "extension-quoted";
        return isTokenOctet[code] === 1 ? "extension-value" : "invalid";
      case "extension-value":
        return isTokenOctet[code] === 1 ? "extension-value" : afterExtension(code);
      case "extension-quoted":
        if (code === quote) return "extension-end";
        if (code === backslash) return "extension-escape";
        return isValueOctet[code] === 1 ? "extension-quoted" : "invalid";
      case "extension-escape":
        return isValueOctet[code] === 1 ? "extension-quoted" : "invalid";
      case "extension-end":
        return afterExtension(code);
      default:
        return "invalid";
    }
  }

  private afterSize(code: number): State {
    const { isStrict } = this.rules;
    if (code === carriageReturn) return "size-line-feed";
    if (!this.countExtension()) return "invalid";
    if (code === semicolon) return isStrict ? "extension-name-start" : "extension";
    return isBlank(code) && !isStrict ? "blank-after-size" : "invalid";
  }

  /** Collects trailer lines up to the CR of the empty line that ends them. */
  private readTrailers(bytes: BorrowedBytes, start: number): number {
    const end = bytes.length;
    let i = start;
    let { state } = this;
    while (i < end && state !== "last-line-feed" && state !== "invalid") {
      const code = bytes[i] as number;
      if (state === "trailer-line-feed") state = code === lineFeed ? "trailer-start" : "invalid";
      else if (code !== carriageReturn) state = code === lineFeed ? "invalid" : "trailer";
      else state = state === "trailer-start" ? "last-line-feed" : "trailer-line-feed";
      i++;
    }
    const textEnd = state === "last-line-feed" ? i - 1 : i;
    if (this.trailerText.length + textEnd - start > this.rules.maxTrailerBytes) state = "invalid";
    else if (textEnd > start) this.trailerText += bytes.toString("latin1", start, textEnd);
    this.state = state;
    return i;
  }

  private finish(): State {
    if (this.trailerText === "") return "done";
    const { maxTrailerFields, isStrict } = this.rules;
    const trailers = readFields(this.trailerText, 0, this.trailerText.length, maxTrailerFields);
    if (trailers === undefined || (isStrict && framesBody(trailers))) return "invalid";
    this.parsedTrailers = [...trailers.toList()];
    return "done";
  }
}

function afterExtension(code: number): State {
  if (code === semicolon) return "extension-name-start";
  return code === carriageReturn ? "size-line-feed" : "invalid";
}

/** Reports whether one of the fields would frame a body (RFC 9110 6.5.1). */
const framesBody = (trailers: Fields): boolean =>
  trailers.has("content-length") || trailers.has("transfer-encoding");

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
