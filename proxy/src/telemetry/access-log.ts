import type { LogFormat } from "@svc-gateway/common/telemetry/log-format.ts";
import { passes, thresholdOf, type LogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import type { LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { accessLineWriter, type AccessLogPathMode, type AccessRecord } from "./access-line.ts";

/** Writes access records in batches. Nothing here waits or throws. */
export type AccessLog = {
  /** When false, callers need not build a record. A single route may suppress its records as well. */
  readonly enabled: boolean;
  write(record: AccessRecord): void;
  /** Writes the lines collected so far to the sink. */
  flush(): void;
  /** Flushes and stops; the sink stays open for its other users. */
  close(): Promise<void>;
};

/** The target of access records in `--log` directives. */
export const accessLogTarget = "svc_proxy::access";

export type AccessLogOptions = {
  /** `--access-log`. */
  readonly enabled: boolean;
  readonly pathMode: AccessLogPathMode;
  readonly format: LogFormat;
  readonly directives: LogDirectives;
  readonly sink: LogSink;
};

/** Lines are written at this age in milliseconds at the latest, or at this size. */
const maxBatchAgeMs = 100;
const maxBatchLength = 64 * 1024;

/** Creates the access log of one worker. */
export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { sink } = options;
  const enabled = options.enabled && passes("info", thresholdOf(accessLogTarget, options.directives));
  const toLine = accessLineWriter({
    format: options.format,
    pathMode: options.pathMode,
    target: accessLogTarget,
  });
  let batch = "";
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (batch === "") return;
    const lines = batch;
    batch = "";
    sink.write(lines);
  };
  const flushAtExit = (): void => {
    flush();
    sink.flushSync();
  };
  if (enabled) process.on("exit", flushAtExit);

  return {
    enabled,
    write(record) {
      if (!enabled) return;
      batch += toLine(record);
      if (batch.length >= maxBatchLength) flush();
      else timer ??= setTimeout(flush, maxBatchAgeMs).unref();
    },
    flush,
    close() {
      flush();
      process.removeListener("exit", flushAtExit);
      return Promise.resolve();
    },
  };
}
