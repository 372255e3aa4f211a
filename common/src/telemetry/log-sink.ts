import { setTimeout as delay } from "node:timers/promises";
import { DescriptorWriter } from "./descriptor-writer.ts";

/** One or more whole lines, as text or as UTF-8. */
export type LogLines = string | Uint8Array;

/** The destination of finished log lines. Writing never blocks and never throws. */
export type LogSink = {
  /** Accepts one or more whole lines. Returns false if they were dropped because too many bytes are waiting. */
  write(lines: string): boolean;
  /** The number of lines dropped since the start. */
  droppedLines(): number;
  /** Whether more than half of the buffer is waiting for the reader. */
  isCongested(): boolean;
  /**
   * Writes the waiting lines, blocking. It is for the last moment of a process, and is called automatically. Lines that
   * are being written at that moment can arrive after later ones; a process that ends in order awaits `close` instead.
   * Lines that a reader does not accept in time are dropped and counted.
   */
  flushSync(): void;
  /**
   * Resolves when all accepted lines are written, when the output is broken, or when its reader accepts nothing for a
   * while. Lines that the reader has not accepted by then are dropped and counted.
   */
  close(): Promise<void>;
};

/** A sink on an output of the process. */
export type LogOutput = Omit<LogSink, "write"> & {
  /**
   * Writes lines. UTF-8 bytes must not change until `onWritten` is called, which happens at most once, and only if the
   * lines are accepted.
   */
  write(lines: LogLines, onWritten?: () => void): boolean;
};

/** The maximum number of bytes that wait for a slow reader of the log. */
export const defaultMaxBufferedBytes = 8 * 1024 * 1024;

/**
 * The time that an ending process waits for a reader that accepts nothing, and its maximum for a slow one, in
 * milliseconds.
 */
export type EndLimits = { readonly stallMs: number; readonly totalMs: number };

const defaultEndLimits: EndLimits = { stallMs: 2000, totalMs: 5000 };

/**
 * Creates a sink on a file descriptor (1 is standard output). Lines wait in memory while the descriptor is busy, up to
 * `maxBufferedBytes`; beyond that they are dropped and counted, so that a blocked reader costs log lines, but never
 * memory or requests. After a write error (a closed pipe, a full disk), the lines are kept for the next attempt within
 * the same limit.
 */
export function createLogSink({
  fd,
  maxBufferedBytes = defaultMaxBufferedBytes,
  endLimits = defaultEndLimits,
}: {
  readonly fd: number;
  readonly maxBufferedBytes?: number;
  readonly endLimits?: EndLimits;
}): LogOutput {
  // Node makes a pipe non-blocking when it creates the stream: a blocked write would prevent the process from ending.
  if (fd === 1) void process.stdout;
  const patience = new Patience(endLimits);
  const writer = new DescriptorWriter(fd, (waitingBytes) => patience.lasts(waitingBytes));
  let dropped = 0;
  let retriedMs = 0;
  /**
   * Retries the waiting lines, at most every `retryMs`: after an error, accepted lines trigger the retry, but no line
   * is accepted while too many are waiting.
   */
  const retry = (): void => {
    if (performance.now() - retriedMs < retryMs) return;
    retriedMs = performance.now();
    writer.tryAgain();
  };
  const dropWaiting = (): void => {
    for (const lines of writer.clear()) dropped += countLines(lines);
  };
  const flushSync = (): void => {
    patience.begin();
    try {
      writer.writeSync();
      // The bytes that a thread is writing will be written.
      writer.clear();
    } catch {
      // The process ends, and its output is closed or not read: the error cannot be reported.
      dropWaiting();
    }
  };
  process.on("exit", flushSync);
  return {
    write(lines, onWritten) {
      const bytes = typeof lines === "string" ? Buffer.from(lines) : lines;
      if (writer.waitingBytes + bytes.length > maxBufferedBytes) {
        dropped += countLines(bytes);
        retry();
        return false;
      }
      writer.write(bytes, onWritten);
      return true;
    },
    droppedLines: () => dropped,
    isCongested: () => writer.waitingBytes > maxBufferedBytes / 2,
    flushSync,
    async close() {
      process.removeListener("exit", flushSync);
      let isOver = false;
      // Lines are tried once more after an error; another error settles the writer.
      const over = new Promise<void>((resolve) => writer.settled(resolve)).then(() => (isOver = true));
      const limit = new AbortController();
      patience.begin();
      while (!isOver && patience.lasts(writer.waitingBytes)) {
        await Promise.race([over, delay(lookMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
      }
      limit.abort();
      if (writer.waitingBytes === 0) patience.end();
      else dropWaiting();
    },
  };
}

/** The minimum interval of retries after a failed write, in milliseconds. */
const retryMs = 100;

/** The interval at which an ending process checks the progress of its reader, in milliseconds. */
const lookMs = 50;

/** The time limits for a reader; unlimited until `begin` is called at the end of the process. */
class Patience {
  private readonly limits: EndLimits;
  private beginMs: number | undefined = undefined;
  private progressMs = 0;
  /** The number of waiting bytes at the previous check, if any. */
  private waitingBytes: number | undefined = undefined;

  constructor(limits: EndLimits) {
    this.limits = limits;
  }

  /** Starts the limits. Has no effect if they have started: time that is used up is not granted again. */
  begin(): void {
    if (this.beginMs !== undefined) return;
    this.beginMs = performance.now();
    this.progressMs = this.beginMs;
  }

  end(): void {
    this.beginMs = undefined;
  }

  lasts(waitingBytes: number): boolean {
    if (this.beginMs === undefined) return true;
    const nowMs = performance.now();
    if (waitingBytes !== this.waitingBytes) this.progressMs = nowMs;
    this.waitingBytes = waitingBytes;
    return nowMs - this.progressMs < this.limits.stallMs && nowMs - this.beginMs < this.limits.totalMs;
  }
}

export function countLines(lines: LogLines): number {
  const bytes = typeof lines === "string" ? Buffer.from(lines) : lines;
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count += 1;
  return count;
}

const lineFeed = 0x0a;
