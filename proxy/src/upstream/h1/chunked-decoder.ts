import type { HeaderList } from "../../message/message.ts";
import type { BorrowedBytes } from "../../sockets/read-buffer.ts";
import { readFields } from "./fields.ts";
import { maxFields, maxHeadBytes } from "./response-head.ts";

/** Most digits of a chunk size, leading zeros included: 2^52 bytes. */
const maxSizeDigits = 13;
/** Most bytes of extensions on one chunk. */
const maxExtensionBytes = 4096;

type State =
  | "size"
  | "blank-after-size"
  | "extension"
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

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const semicolon = 0x3b;

/**
 * Takes the chunked coding (RFC 9112 7.1) off a body as it arrives. Decodes in place: the data of a piece is moved
 * together at its start, so that many small chunks become one. Strict: CRLF only, sizes of at most `maxSizeDigits`,
 * extensions of at most `maxExtensionBytes` per chunk, trailers within the limits of a head. Nothing follows "done" or "invalid".
 */
export class ChunkedDecoder {
  private state: State = "size";
  private digits = 0;
  private remaining = 0;
  private extensionBytes = 0;
  private trailerText = "";
  private parsedTrailers: HeaderList | undefined = undefined;
  /** Index after the last byte of the message in the piece that completed it. */
  endIndex = 0;

  get done(): boolean {
    return this.state === "done";
  }

  get invalid(): boolean {
    return this.state === "invalid";
  }

  /** The trailers of a message that is done; undefined when it had none. */
  get trailers(): HeaderList | undefined {
    return this.parsedTrailers;
  }

  /** Bytes of the current chunk that have not arrived. */
  get announcedBytes(): number {
    return this.state === "data" ? this.remaining : 0;
  }

  /** Decodes `bytes` from index `start` to their end; answers how many bytes of data are at `start` afterwards. */
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

  /** One byte of the framing between the data. */
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
      case "extension":
        if (code === carriageReturn) return "size-line-feed";
        if ((code < space && code !== tab) || code === 0x7f) return "invalid";
        return ++this.extensionBytes > maxExtensionBytes ? "invalid" : "extension";
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
        return "invalid";
    }
  }

  private afterSize(code: number): State {
    switch (code) {
      case carriageReturn:
        return "size-line-feed";
      case semicolon:
        return "extension";
      case space:
      case tab:
        return ++this.extensionBytes > maxExtensionBytes ? "invalid" : "blank-after-size";
      default:
        return "invalid";
    }
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
    if (this.trailerText.length + textEnd - start > maxHeadBytes) state = "invalid";
    else if (textEnd > start) this.trailerText += bytes.toString("latin1", start, textEnd);
    this.state = state;
    return i;
  }

  private finish(): State {
    if (this.trailerText === "") return "done";
    this.parsedTrailers = readFields(this.trailerText, 0, this.trailerText.length, maxFields);
    return this.parsedTrailers === undefined ? "invalid" : "done";
  }
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
