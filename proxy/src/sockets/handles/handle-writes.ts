/** How bytes are written to the handle of a connection. No call is made once the connection is closed or ended by this side. */
export type HandleWrites = {
  /** Bytes that the system has not taken. */
  readonly waitingBytes: number;
  /** A write is not complete: our end has to wait. */
  readonly isBusy: boolean;
  readonly holdsBack: boolean;
  /** The same as those of `Transport`. */
  writeText(text: string): void;
  writeBytes(before: string, bytes: Buffer, after: string): void;
  lendBytes(bytes: Buffer, done: () => void): void;
};

/** The connection that writes belong to. */
export type WritesOwner = {
  /** Nothing waits any more, and no write is under way. */
  onWritten(): void;
  /** A write has failed with an error of libuv. It may be called from within a call to write. */
  onWriteFailed(status: number): void;
};
