import type { StreamHandle } from "./internals.ts";

/** The events of a connection that the owner of its handle reports. None is called during a call to the owner. */
export type HandleEvents = {
  /** The peer has ended its side, after a call of `peerHasEnded`. */
  peerEnded(): void;
  /** A system or TLS error has occurred. */
  failed(code: string | undefined): void;
  /** The connection is closed; no call follows. */
  closed(): void;
};

/** Ends, resets and closes the connection of a handle: its Node socket, or `OwnHandle` if it has no socket. */
export type HandleOwner = {
  /** The handle; undefined once the connection is closed. */
  readonly handle: StreamHandle | undefined;
  /** Bytes that the kernel has accepted; with TLS, encrypted bytes. */
  readonly takenBytes: number;
  /** Whether the peer has ended its side and that was reported. */
  readonly hasEnded: boolean;
  /** Whether our side has not been ended and the connection is not closed. */
  readonly isWritable: boolean;
  /** Whether the kernel has accepted our end. */
  readonly isFinished: boolean;
  readonly isClosed: boolean;
  watch(events: HandleEvents): void;
  /** Returns the bytes that the owner has read before, and those that were put back; undefined if there are none. */
  takeRead(): Buffer | undefined;
  /** Reports to the owner that the handle has read the end of the peer's side. */
  peerHasEnded(): void;
  /** Sends our end; called while no write waits. A connection that both sides have ended is closed. */
  end(): void;
  /** Closes the connection, with the error of a system call if that is the cause. */
  destroy(error?: FailedCall): void;
  reset(): void;
  /** Calls back once when the connection is closed, after the receiver of its events. */
  whenClosed(call: () => void): void;
};

/** A failed system call, with its libuv error. */
export type FailedCall = { readonly call: "read" | "write" | "shutdown"; readonly status: number };
