import { countLines, type LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import type { LogRingWriter } from "./log-ring.ts";

/**
 * The sink of a worker. Lines are the supervisor's as soon as they are in the ring, even when this thread ends; where
 * the ring is full, they are dropped and counted.
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
