import { Slabs } from "../../sockets/slabs.ts";
import type { Transport } from "../../sockets/transport.ts";
import { frameHeadBytes } from "./frame-types.ts";

/** Memory for unwritten frames, with room for the bytes that may wait for a socket, one more frame, and heads. */
const slabs = new Slabs(98_304, 32);
/** The largest write that is copied if its memory would be released late; a write that waits is always copied. */
const smallWriteBytes = 8192;

const noSlab: Buffer = Buffer.alloc(0);

/**
 * The outgoing frames of one connection. They are collected in memory that the connection holds only while it contains
 * some, and are written together at the end of a turn, or when the memory is full.
 */
export class FrameOutput {
  /** The position of the next octet in `bytes`; valid only after `reserve`. */
  at = 0;
  bytes: Buffer = noSlab;
  private readonly transport: Transport;
  /** The memory of a write that the transport still uses; there is at most one. */
  private lent: Buffer = noSlab;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** Bytes collected here or passed to the transport that the operating system has not accepted yet. */
  get waitingBytes(): number {
    return this.at + this.transport.waitingBytes;
  }

  /** Ensures that `length` octets fit at `at`, by writing the collected ones if necessary. */
  reserve(length: number): void {
    if (this.at + length <= this.bytes.length) return;
    this.flush();
    this.bytes = length <= slabs.size ? slabs.take() : Buffer.allocUnsafeSlow(length);
  }

  /** Puts the header of a frame at `at`, where there must be room (RFC 9113 4.1). Returns the position after it. */
  putHead(at: number, length: number, type: number, flags: number, streamId: number): number {
    const { bytes } = this;
    bytes[at] = length >> 16;
    bytes[at + 1] = length >> 8;
    bytes[at + 2] = length;
    bytes[at + 3] = type;
    bytes[at + 4] = flags;
    return putUint32(bytes, at + 5, streamId);
  }

  /** Adds a copy of octets. */
  put(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Adds a frame whose payload is a 32-bit number. */
  frameOf(type: number, streamId: number, value: number): void {
    this.reserve(frameHeadBytes + 4);
    this.at = putUint32(this.bytes, this.putHead(this.at, 4, type, 0, streamId), value);
  }

  /** Adds a whole frame, with a copy of `payload`. */
  frame(type: number, flags: number, streamId: number, payload: Uint8Array = noSlab): void {
    this.reserve(frameHeadBytes + payload.length);
    const at = this.putHead(this.at, payload.length, type, flags, streamId);
    this.bytes.set(payload, at);
    this.at = at + payload.length;
  }

  /** Writes the collected frames. */
  flush(): void {
    const { bytes, at, transport } = this;
    if (at === 0) return;
    this.at = 0;
    this.bytes = noSlab;
    if (!transport.writable) return slabs.giveBack(bytes);
    // A transport that reports writes late also releases their memory late.
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

/** Puts a 32-bit number at `at`; returns the position after it. */
export function putUint32(into: Uint8Array, at: number, value: number): number {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
  return at + 4;
}
