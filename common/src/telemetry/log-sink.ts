import sonicBoom from "sonic-boom";

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
}): LogSink {
  const stream = new sonicBoom.SonicBoom({ fd, sync: false });
  let waitingBytes = 0;
  let dropped = 0;
  let failed = false;
  stream.on("write", (bytes) => {
    failed = false;
    waitingBytes -= bytes;
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
    write(lines) {
      const bytes = Buffer.byteLength(lines);
      if (waitingBytes + bytes > maxBufferedBytes) {
        dropped += countLines(lines);
        return false;
      }
      waitingBytes += bytes;
      stream.write(lines);
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

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
