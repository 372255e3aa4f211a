import sonicBoom from "sonic-boom";

/** One or more whole lines, as text or as UTF-8. */
export type LogLines = string | Uint8Array;

/** Where finished log lines go. Writing never blocks and never throws. */
export type LogSink = {
  /** Takes one or more whole lines. False when they were dropped because too much is waiting already. */
  write(lines: string): boolean;
  /** How many lines have been dropped since the start. */
  droppedLines(): number;
  /** Whether more than half of the buffer is waiting for the reader. */
  isCongested(): boolean;
  /**
   * Writes what is waiting, blocking: for the last moment of a process, which calls it by itself. Lines that are being
   * written at that moment may come after later ones; a process that ends in order awaits `close` instead.
   */
  flushSync(): void;
  /** Resolves when everything taken so far is written, or when the output is broken. */
  close(): Promise<void>;
};

/** A sink on an output of the process. */
export type LogOutput = Omit<LogSink, "write"> & {
  /** Lines as UTF-8 must not change until `onWritten` is called, which happens at most once, and only if they are taken. */
  write(lines: LogLines, onWritten?: () => void): boolean;
};

/** How much may wait for a slow reader of the log. */
export const defaultMaxBufferedBytes = 8 * 1024 * 1024;

/**
 * A sink on a file descriptor (1 is standard output). Lines wait in memory while the descriptor is busy, up to
 * `maxBufferedBytes`; beyond that they are dropped and counted, so that a blocked reader costs log lines, never memory
 * or requests. A write error (a closed pipe, a full disk) keeps the lines for the next attempt under the same bound.
 */
export function createLogSink({
  fd,
  maxBufferedBytes = defaultMaxBufferedBytes,
}: {
  readonly fd: number;
  readonly maxBufferedBytes?: number;
}): LogOutput {
  const stream = new sonicBoom.SonicBoom({ fd, sync: false, contentMode: "buffer" });
  let waitingBytes = 0;
  let dropped = 0;
  let failed = false;
  /** Who waits for lines to be written, with the number of bytes that were waiting or written before their end. */
  const users: { readonly end: number; readonly onWritten: () => void }[] = [];
  let writtenBytes = 0;
  stream.on("write", (bytes) => {
    failed = false;
    waitingBytes -= bytes;
    writtenBytes += bytes;
    while (users[0] !== undefined && users[0].end <= writtenBytes) users.shift()?.onWritten();
  });
  stream.on("error", () => {
    failed = true;
  });
  const flushSync = (): void => {
    try {
      stream.flushSync();
      waitingBytes = 0;
    } catch {
      // The process ends and its output is closed: the error cannot be reported.
    }
  };
  process.on("exit", flushSync);
  return {
    write(lines, onWritten) {
      const bytes = typeof lines === "string" ? Buffer.from(lines) : lines;
      if (waitingBytes + bytes.length > maxBufferedBytes) {
        dropped += countLines(bytes);
        return false;
      }
      waitingBytes += bytes.length;
      if (onWritten !== undefined) users.push({ end: writtenBytes + waitingBytes, onWritten });
      // Its types know only text.
      stream.write(bytes as unknown as string);
      return true;
    },
    droppedLines: () => dropped,
    isCongested: () => waitingBytes > maxBufferedBytes / 2,
    flushSync,
    async close() {
      process.removeListener("exit", flushSync);
      if (!failed) await new Promise<void>((resolve) => stream.flush(() => resolve()));
    },
  };
}

export function countLines(lines: LogLines): number {
  const bytes = typeof lines === "string" ? Buffer.from(lines) : lines;
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count += 1;
  return count;
}

const lineFeed = 0x0a;
