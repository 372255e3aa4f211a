import { setTimeout as delay } from "node:timers/promises";
import { DescriptorWriter } from "./descriptor-writer.ts";

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
   * written at that moment may come after later ones; a process that ends in order awaits `close` instead. Lines that a
   * reader does not take in time are dropped and counted.
   */
  flushSync(): void;
  /**
   * Resolves when everything taken so far is written, when the output is broken, or when its reader takes nothing for a
   * while: what it has not taken then is dropped and counted.
   */
  close(): Promise<void>;
};

/** A sink on an output of the process. */
export type LogOutput = Omit<LogSink, "write"> & {
  /** Lines as UTF-8 must not change until `onWritten` is called, which happens at most once, and only if they are taken. */
  write(lines: LogLines, onWritten?: () => void): boolean;
};

/** How much may wait for a slow reader of the log. */
export const defaultMaxBufferedBytes = 8 * 1024 * 1024;

/** How long an ending process waits for a reader that takes nothing, and at most for a slow one, in milliseconds. */
export type EndLimits = { readonly stallMs: number; readonly totalMs: number };

const defaultEndLimits: EndLimits = { stallMs: 2000, totalMs: 5000 };

/**
 * A sink on a file descriptor (1 is standard output). Lines wait in memory while the descriptor is busy, up to
 * `maxBufferedBytes`; beyond that they are dropped and counted, so that a blocked reader costs log lines, never memory
 * or requests. A write error (a closed pipe, a full disk) keeps the lines for the next attempt under the same bound.
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
  // Node makes a pipe non-blocking when it makes the stream: a write that blocks would keep the process from its end.
  if (fd === 1) void process.stdout;
  const patience = new Patience(endLimits);
  const writer = new DescriptorWriter(fd, (waitingBytes) => patience.lasts(waitingBytes));
  let dropped = 0;
  let retriedMs = 0;
  /** Lines that were refused are tried again with the next ones, of which none are taken while too much is waiting. */
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
      // What a thread is writing will be written.
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
      // Lines that were refused are tried once more; an error says that they are refused again.
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

/** How often refused lines have a write tried again that has failed, in milliseconds. */
const retryMs = 100;

/** How often an ending process looks at what its reader takes, in milliseconds. */
const lookMs = 50;

/** Without end until it begins to be measured, when the process ends. */
class Patience {
  private readonly limits: EndLimits;
  private beginMs: number | undefined = undefined;
  private progressMs = 0;
  /** What the output had not taken when that was last looked at, if it was. */
  private waitingBytes: number | undefined = undefined;

  constructor(limits: EndLimits) {
    this.limits = limits;
  }

  /** Harmless when it has begun: what was given up is not waited for again. */
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
