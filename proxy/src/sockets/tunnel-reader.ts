import type { OnReadOpts } from "node:net";
import { type Piece, ReadBuffer } from "./read-buffer.ts";

/** The destination of the bytes. */
export type TunnelReceiver = {
  /** False: nothing more for now. The bytes are the receiver's until it holds none of them. */
  receive(bytes: Buffer): boolean;
  /** Bytes that it has been given and still holds; undefined: it does not say. */
  readonly heldBytes: number | undefined;
  /** Most bytes that it takes at once while `receive` answers true. */
  readonly roomBytes: number;
};

/** A read that brings less than this is not part of a bulk transfer. */
const bulkReadBytes = 65_536;

/**
 * Reads a socket that we open for a tunnel, into memory that is used again as soon as the receiver holds nothing of it.
 * Memory for each read, which is what a stream does, has the collector run for a third of the time of a large transfer.
 */
export class TunnelReader {
  /** For the socket, when it is created. */
  readonly onread: OnReadOpts;
  private readonly memory = new ReadBuffer();
  private receiver: TunnelReceiver | undefined = undefined;
  private early: Buffer = Buffer.alloc(0);

  constructor() {
    this.onread = this.memory.onread((piece) => this.read(piece));
  }

  /** The receiver gets what is read from now on, and what was read before it was known; the socket is to be resumed. */
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
