import type { Piece, ReadBuffer } from "./read-buffer.ts";

/** The progress of the bytes written to a client. */
export type WrittenBytes = {
  /** Bytes that were written and that the kernel has not accepted yet. */
  readonly waitingBytes: number;
  /** Bytes that the kernel has accepted since the client connected; with TLS, encrypted bytes. */
  readonly takenBytes: number;
};

/** Receives the events of a connection. It is never called during a call to the transport. */
export type TransportReceiver = {
  /** Bytes were read; those that are not owned are valid until this returns. */
  receive(piece: Piece): void;
  /** The peer has ended its side. */
  ended(): void;
  /** The kernel has accepted everything that was written, as requested by `whenTaken`. */
  taken(): void;
  /** An error has ended the connection; `code` is a system or TLS error code. */
  failed?(code: string | undefined): void;
  /** The connection has been closed. */
  closed(): void;
};

/** The interface by which protocols read and write a connection, independently of its kind of socket. */
export type Transport = WrittenBytes & {
  /**
   * Whether accepted bytes are reported a turn later, as by TLS sockets of Node.js, so that some always seem to wait.
   */
  readonly reportsLate: boolean;
  /** Whether a write now has to wait for the next turn even if the kernel has room: TLS handles accept one per turn. */
  readonly holdsBack: boolean;
  /** Whether bytes have been read that the receiver has not been given. */
  readonly hasUnread: boolean;
  /** Whether the peer has ended its side and the receiver has been given everything before that. */
  readonly ended: boolean;
  /** Whether our side can be written to: it has not been ended, and the connection is not being closed. */
  readonly writable: boolean;
  /** Whether the kernel has accepted everything that was written, and our end. */
  readonly finished: boolean;
  /** Begins to read. A later call passes the connection to another receiver, and resumes reading if it was paused. */
  start(receiver: TransportReceiver): void;
  /** Writes text of one octet per character. */
  writeText(text: string): void;
  /** Whether `writeBytes` accepts views of memory that connections share (`isLent`), to which it keeps no reference. */
  readonly takesViews: boolean;
  /**
   * Writes bytes between two texts in one write. Unless the bytes are lent, they must not change until the kernel has
   * accepted them.
   */
  writeBytes(before: string, bytes: Buffer, after: string): void;
  /**
   * Writes bytes while no others wait. `done` is called once the caller may reuse their memory, which is immediately if
   * the kernel has accepted them all. It might never be called, and then the memory must not be reused.
   */
  lendBytes(bytes: Buffer, done: () => void): void;
  /** Requests one call of `taken`. */
  whenTaken(): void;
  pause(): void;
  resume(): void;
  /** Ends our side after what has been written. */
  end(): void;
  /** Ends both sides immediately. */
  destroy(): void;
  /** Ends both sides immediately by a reset, which no peer can mistake for the end of a message. */
  reset(): void;
  /** Calls back once when the connection has been closed, after its receiver. */
  whenClosed(call: () => void): void;
};

/** A connection that becomes one end of a tunnel (`joinTunnel`) after its last message. */
export type TunnelEnd = {
  readonly transport: Transport;
  /** The bytes that were read after that message. */
  readonly head: Buffer;
  /** The memory that the transport reads into, if its receiver can choose it. */
  readonly memory?: ReadBuffer;
  /** Ends the connection immediately; by default it is destroyed. */
  readonly abort?: () => void;
};
