import type { StreamHandle } from "./internals.ts";

/** What the owner of a handle says of its connection. No call comes from within a call to the owner. */
export type HandleEvents = {
  /** The peer has ended its side; `peerHasEnded` of the owner was called before. */
  peerEnded(): void;
  /** An error of the system or of TLS. */
  failed(code: string | undefined): void;
  /** The connection is closed; nothing is called after it. */
  closed(): void;
};

/** Who ends, resets and closes the connection of a handle: its socket of Node, or, where it has none, `OwnHandle`. */
export type HandleOwner = {
  /** Undefined once the connection is closed. */
  readonly handle: StreamHandle | undefined;
  /** Bytes that the system has taken, encrypted ones with TLS. */
  readonly takenBytes: number;
  /** The peer has ended its side, and that was reported. */
  readonly hasEnded: boolean;
  /** Our side has not been ended, and the connection is not closed. */
  readonly isWritable: boolean;
  /** Our end has been taken by the system. */
  readonly isFinished: boolean;
  readonly isClosed: boolean;
  watch(events: HandleEvents): void;
  /** What the owner has read before, and what was put back. */
  takeRead(): Buffer | undefined;
  /** The handle has read the end of the peer's side. */
  peerHasEnded(): void;
  /** Sends our end, while no write waits. A connection that both sides have ended is closed. */
  end(): void;
  /** Closes the connection, because of the error of a call to the system if there is one. */
  destroy(error?: FailedCall): void;
  reset(): void;
  /** Calls back once when the connection is closed, after the receiver of its events. */
  whenClosed(call: () => void): void;
};

/** A call to the system that has failed, with an error of libuv. */
export type FailedCall = { readonly call: "read" | "write" | "shutdown"; readonly status: number };
