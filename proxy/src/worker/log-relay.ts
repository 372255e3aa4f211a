import type { LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";

/** Log lines of one worker that may be on their way to the supervisor. */
const maxBytes = 4 * 1024 * 1024;

/**
 * The sink of a worker: sends lines to the supervisor, which writes those of all workers in turn. Bytes that the
 * supervisor has not taken yet are counted in `waiting[worker]`; beyond `maxBytes` lines are dropped and counted.
 */
export function createLogRelay(
  send: (lines: string) => void,
  waiting: Int32Array,
  worker: number,
): Pick<LogSink, "write" | "droppedLines" | "isCongested" | "flushSync" | "close"> {
  let dropped = 0;
  return {
    write(lines) {
      const bytes = Buffer.byteLength(lines);
      if (Atomics.add(waiting, worker, bytes) + bytes > maxBytes) {
        Atomics.sub(waiting, worker, bytes);
        dropped += lines.split("\n").length - 1;
        return false;
      }
      send(lines);
      return true;
    },
    droppedLines: () => dropped,
    isCongested: () => Atomics.load(waiting, worker) > maxBytes / 2,
    // The supervisor has every line that was sent, even when this thread ends.
    flushSync: () => {},
    close: () => Promise.resolve(),
  };
}

/** The supervisor's side: writes lines and frees their room. */
export function takeLines(sink: LogSink, lines: string, waiting: Int32Array, worker: number): void {
  sink.write(lines);
  Atomics.sub(waiting, worker, Buffer.byteLength(lines));
}
