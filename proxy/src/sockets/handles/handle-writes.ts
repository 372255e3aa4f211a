/** Writes bytes to the handle of a connection. Must not be called once this side has closed or ended the connection. */
export type HandleWrites = {
  /** Bytes that the kernel has not accepted. */
  readonly waitingBytes: number;
  /** Whether a write is incomplete, so that our end has to wait. */
  readonly isBusy: boolean;
  readonly holdsBack: boolean;
  /** `writeText`, `writeBytes` and `lendBytes` are methods of `Transport`. */
  writeText(text: string): void;
  writeBytes(before: string, bytes: Buffer, after: string): void;
  lendBytes(bytes: Buffer, done: () => void): void;
};

/** The connection that writes belong to. */
export type WritesOwner = {
  /** No bytes are waiting any more, and no write is under way. */
  onWritten(): void;
  /** A write has failed with a libuv error. This can be called during a call to write. */
  onWriteFailed(status: number): void;
};
