import type { OnReadOpts } from "node:net";
import { type Piece, ReadBuffer } from "./read-buffer.ts";

/** The destination of the bytes. */
export type TunnelReceiver = {
  /** False pauses the reader. The bytes belong to the receiver until it holds none of them. */
  receive(bytes: Buffer): boolean;
  /** Bytes that it has received and still holds; undefined: unknown. */
  readonly heldBytes: number | undefined;
  /** The most bytes that it takes at once while `receive` returns true. */
  readonly roomBytes: number;
};

/** A read that brings less than this is not part of a bulk transfer. */
const bulkReadBytes = 65_536;

/**
 * Reads a socket to an upstream for a tunnel, into memory that is reused as soon as the receiver holds nothing of it.
 * With new memory for each read, as in a stream, garbage collection takes a third of the time of a large transfer.
 */
export class TunnelReader {
  /** The option `onread` of the socket. */
  readonly onread: OnReadOpts;
  private readonly memory = new ReadBuffer();
  private receiver: TunnelReceiver | undefined = undefined;
  private early: Buffer = Buffer.alloc(0);

  constructor() {
    this.onread = this.memory.onread((piece) => this.read(piece));
  }

  /**
   * Passes all bytes to the receiver from now on, including those that were read before; the caller resumes the socket.
   */
  start(receiver: TunnelReceiver): void {
    this.receiver = receiver;
    const { early } = this;
    this.early = Buffer.alloc(0);
    if (early.length > 0) receiver.receive(early);
  }

  private read({ owned, bytes }: Piece): boolean {
    const { memory, receiver } = this;
    if (receiver === undefined) {
      this.early = Buffer.concat([this.early, bytes]);
      return false;
    }
    const more = receiver.receive(owned ? bytes : Buffer.from(bytes));
    if (bytes.length < bulkReadBytes) memory.reset(receiver.heldBytes);
    else memory.settle(0, receiver.heldBytes, more, receiver.roomBytes);
    return more;
  }
}
