import { countLines, type LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import type { LogRingWriter } from "./log-ring.ts";

/**
 * Creates the log sink of a worker. Lines in the ring are written by the supervisor, even if this thread ends. If the
 * ring is full, lines are dropped and counted.
 */
export function createWorkerSink(ring: LogRingWriter): LogSink {
  let dropped = 0;
  return {
    write(lines) {
      const isTaken = ring.write(lines);
      if (!isTaken) dropped += countLines(lines);
      return isTaken;
    },
    droppedLines: () => dropped,
    isCongested: () => ring.isCongested(),
    flushSync: () => {},
    close: () => Promise.resolve(),
  };
}
