import type { Piece, ReadBuffer } from "./read-buffer.ts";

/** What has been written to a client. */
export type WrittenBytes = {
  /** Bytes handed over that the system has not taken. */
  readonly waitingBytes: number;
  /** Bytes that the system has taken since the client was connected, encrypted ones with TLS. */
  readonly takenBytes: number;
};

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
  /** What the system takes at once is reported a turn later, as by TLS sockets of Node.js, so that some always seems to wait. */
  readonly reportsLate: boolean;
  /** What is written now waits for the next turn, also where the system has room: TLS on handles takes one write in a turn. */
  readonly holdsBack: boolean;
  /** Bytes have been read that the receiver has not been given. */
  readonly hasUnread: boolean;
  /** The peer has ended its side, and the receiver has been given everything before that. */
  readonly ended: boolean;
  /** Our side can be written to: it has not been ended, and the connection is not being closed. */
  readonly writable: boolean;
  /** All that was written, and our end, has been taken by the system. */
  readonly finished: boolean;
  /** Begins to read. A later call passes the connection on to another receiver, for which it reads, paused or not. */
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
  /** Calls back once when the connection has been closed, after its receiver. */
  whenClosed(call: () => void): void;
};

/** A connection that is handed over after its last message, to be one end of a tunnel (`joinTunnel`). */
export type TunnelEnd = {
  readonly transport: Transport;
  /** What was read behind that message. */
  readonly head: Buffer;
  /** The memory that the transport reads into, if the receiver chooses it. */
  readonly memory?: ReadBuffer;
  /** Ends the connection at once; by default destroys it. */
  readonly abort?: () => void;
};
