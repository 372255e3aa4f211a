import type { Socket } from "node:net";
import type { WrittenBytes } from "../http/h1/response-writes.ts";
import type { Piece } from "./read-buffer.ts";

/** Receives what happens on a connection. No call comes from within a call to the transport. */
export type TransportReceiver = {
  /** Bytes were read; those that are not owned are valid until this returns. */
  receive(piece: Piece): void;
  /** The peer has ended its side. */
  ended(): void;
  /** All that had been written when `whenTaken` was called has been taken by the system. */
  taken(): void;
  /** An error ends the connection; `code` is that of the system or of TLS. */
  failed?(code: string | undefined): void;
  /** The connection has been closed. */
  closed(): void;
};

/** A connection as those that speak a protocol on it read and write it, over any transport of its bytes. */
export type Transport = WrittenBytes & {
  /** Bytes are encrypted on their way: later than they are written, so that some always seem to wait. */
  readonly encrypted: boolean;
  /** Bytes have been read that the receiver has not been given. */
  readonly hasUnread: boolean;
  /** Our side can be written to: it has not been ended, and the connection is not being closed. */
  readonly writable: boolean;
  /** All that was written, and our end, has been taken by the system. */
  readonly finished: boolean;
  /** Begins to read. */
  start(receiver: TransportReceiver): void;
  /** Writes text of one octet per character. */
  writeText(text: string): void;
  /** `writeBytes` takes views of memory that connections share (`isLent`), of which it keeps nothing. */
  readonly takesViews: boolean;
  /** Writes bytes between two texts, in one piece for the system. The bytes stay as they are until they are taken, if they are not lent. */
  writeBytes(before: string, bytes: Buffer, after: string): void;
  /**
   * Writes bytes while nothing waits. `done` is called once their memory is the caller's again: at once where the system has taken
   * them all. It may never be, and then the memory stays as it is.
   */
  lendBytes(bytes: Buffer, done: () => void): void;
  /** Asks for `taken`, once. */
  whenTaken(): void;
  pause(): void;
  resume(): void;
  /** Ends our side after what has been written. */
  end(): void;
  /** Ends both sides at once. */
  destroy(): void;
  /** The same by a reset, which no peer takes for the end of a message. */
  reset(): void;
  /** Stops reading for good and gives the socket away; `closed` is still called. */
  release(): Socket;
};
