import { randomBytes } from "node:crypto";
import type { BorrowedBytes } from "./read-buffer.ts";

/** The octets of a header before its extended length (RFC 6455 5.2). */
const headBytes = 2;
const maskBytes = 4;
const closeOpcode = 8;
/** Length codes that announce an extended length in 2 or 8 octets. */
const length16 = 126;
const length64 = 127;

/**
 * Follows the frames of one direction of a WebSocket (RFC 6455 5.2), to determine whether the proxy can add a frame
 * after the relayed bytes. Payload is skipped, so the cost of a piece is a few steps for each frame that begins in it.
 */
export class WebSocketFrames {
  /** The bytes of the current payload that have not been read. */
  private payloadBytes = 0;
  /** The number of octets of the current header that have been read, and its size as far as that is known. */
  private headerAt = 0;
  private headerBytes = headBytes;
  private opcode = 0;
  private length = 0;
  private isMasked = false;
  private isClosed = false;

  /** Whether a frame can be added. False within a frame, and after a Close frame, which is the last one. */
  get mayAdd(): boolean {
    return !this.isClosed && this.payloadBytes === 0 && this.headerAt === 0;
  }

  read(bytes: BorrowedBytes): void {
    const end = bytes.length;
    let at = 0;
    while (at < end) {
      if (this.payloadBytes > 0) {
        const skipped = Math.min(this.payloadBytes, end - at);
        this.payloadBytes -= skipped;
        at += skipped;
      } else {
        this.readHeader(bytes[at] as number);
        at++;
      }
    }
  }

  private readHeader(octet: number): void {
    const place = this.headerAt++;
    if (place === 0) this.opcode = octet & 0x0f;
    else if (place === 1) this.readLength(octet);
    else if (place < this.headerBytes - (this.isMasked ? maskBytes : 0))
      this.length = this.length * 256 + octet;
    if (this.headerAt < this.headerBytes) return;
    this.payloadBytes = this.length;
    this.headerAt = 0;
    this.headerBytes = headBytes;
    if (this.opcode === closeOpcode) this.isClosed = true;
  }

  private readLength(octet: number): void {
    const length = octet & 0x7f;
    this.isMasked = octet >= 0x80;
    this.length = length < length16 ? length : 0;
    const extended = length === length16 ? 2 : length === length64 ? 8 : 0;
    this.headerBytes = headBytes + extended + (this.isMasked ? maskBytes : 0);
  }
}

/** The status 1001, going away (RFC 6455 7.4.1). */
const status = Buffer.of(1001 >> 8, 1001 & 0xff);

/** A Close frame of a server with that status. */
export const goingAway: Buffer = Buffer.concat([Buffer.of(0x88, status.length), status]);

/** Returns the same frame of a client, which masks its payload with an unpredictable key (RFC 6455 5.3). */
export function maskedGoingAway(): Buffer {
  const key = randomBytes(maskBytes);
  const payload = status.map((octet, at) => octet ^ (key[at] as number));
  return Buffer.concat([Buffer.of(0x88, 0x80 | status.length), key, payload]);
}
