import type { LogSink } from "../../src/telemetry/log-sink.ts";

/** A sink that records the lines that it accepts, and rejects lines on demand. */
export type MemorySink = LogSink & { readonly lines: string[]; block(isBlocked: boolean): void };

export function createMemorySink(): MemorySink {
  const lines: string[] = [];
  let dropped = 0;
  let isBlocked = false;
  return {
    lines,
    block(next) {
      isBlocked = next;
    },
    write(text) {
      const written = text.split("\n").slice(0, -1);
      if (isBlocked) dropped += written.length;
      else lines.push(...written);
      return !isBlocked;
    },
    droppedLines: () => dropped,
    isCongested: () => isBlocked,
    flushSync: () => {},
    close: () => Promise.resolve(),
  };
}
