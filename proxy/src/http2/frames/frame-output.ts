import { Slabs } from "../../sockets/slabs.ts";
import type { Transport } from "../../sockets/transport.ts";
import { frameHeadBytes } from "./frame-types.ts";

/** What is gathered before it is written: what may wait for a socket, one more frame, and heads. */
const slabs = new Slabs(98_304, 32);
/** A write of at most this size is copied where the memory cannot be had back at once, as is all that waits behind another. */
const smallWriteBytes = 8192;

const noSlab: Buffer = Buffer.alloc(0);

/**
 * The frames that leave on one connection, gathered in memory that is the connection's only while something is in it,
 * and written together: at the end of a turn, or when it is full.
 */
export class FrameOutput {
  /** Where the next octet goes in `bytes`; only after `reserve`. */
  at = 0;
  bytes: Buffer = noSlab;
  private readonly transport: Transport;
  /** The memory of a write that has not been taken; there is one at a time. */
  private lent: Buffer = noSlab;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** What has been gathered or written and was not taken. */
  get waitingBytes(): number {
    return this.at + this.transport.waitingBytes;
  }

  /** Sees to it that `length` octets can be put at `at`. */
  reserve(length: number): void {
    if (this.at + length <= this.bytes.length) return;
    this.flush();
    this.bytes = length <= slabs.size ? slabs.take() : Buffer.allocUnsafeSlow(length);
  }

  /** The head of a frame at `at`, where there is room for it (RFC 9113 4.1). Answers what follows it. */
  putHead(at: number, length: number, type: number, flags: number, streamId: number): number {
    const { bytes } = this;
    bytes[at] = length >> 16;
    bytes[at + 1] = length >> 8;
    bytes[at + 2] = length;
    bytes[at + 3] = type;
    bytes[at + 4] = flags;
    return putUint32(bytes, at + 5, streamId);
  }

  /** Octets as they are; copied. */
  put(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** A frame whose payload is a number of 32 bits. */
  frameOf(type: number, streamId: number, value: number): void {
    this.reserve(frameHeadBytes + 4);
    this.at = putUint32(this.bytes, this.putHead(this.at, 4, type, 0, streamId), value);
  }

  /** A whole frame; what of `payload` is its payload is copied. */
  frame(type: number, flags: number, streamId: number, payload: Uint8Array = noSlab): void {
    this.reserve(frameHeadBytes + payload.length);
    const at = this.putHead(this.at, payload.length, type, flags, streamId);
    this.bytes.set(payload, at);
    this.at = at + payload.length;
  }

  /** Writes what has been gathered. */
  flush(): void {
    const { bytes, at, transport } = this;
    if (at === 0) return;
    this.at = 0;
    this.bytes = noSlab;
    if (!transport.writable) return slabs.giveBack(bytes);
    // Where a write is reported late, its memory cannot be had back at once.
    const isCopied = transport.waitingBytes > 0 || (transport.reportsLate && at <= smallWriteBytes);
    if (isCopied) {
      transport.writeBytes("", Buffer.from(bytes.subarray(0, at)), "");
      return slabs.giveBack(bytes);
    }
    this.lent = bytes;
    transport.lendBytes(bytes.subarray(0, at), this.onTaken);
  }

  private readonly onTaken = (): void => {
    const { lent } = this;
    this.lent = noSlab;
    slabs.giveBack(lent);
  };
}

/** Answers what follows the number. */
export function putUint32(into: Uint8Array, at: number, value: number): number {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
  return at + 4;
}
