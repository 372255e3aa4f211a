import type { LogFormat } from "@svc-gateway/common/telemetry/log-format.ts";
import { passes, thresholdOf, type LogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import type { LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { accessLineWriter, type AccessLogPathMode } from "./access-line.ts";

/** One finished request (docs/reference/access-log.md). */
export type AccessRecord = {
  readonly host: string;
  readonly method: string;
  /** The concrete normalised path, without query. */
  readonly path: string;
  /** The path of the matched rule as it is configured, `/` without a match. */
  readonly pattern: string;
  readonly status: number;
  /** Empty when no route matched. */
  readonly routeId: string;
  /** `<namespace>/<service>`, empty when the request went to no upstream. */
  readonly upstream: string;
  /** `ip:port` of the last endpoint tried, empty when there was none. */
  readonly upstreamAddr: string;
  readonly durationMs: number;
  /** Bytes of the response body, or of what went to the client over an upgraded connection. */
  readonly bytesSent: number;
  /** A short fixed text; present only on failure. */
  readonly error?: string;
  /** True for a copy sent to a mirror. */
  readonly mirror?: boolean;
  readonly clientIp: string;
  /** Upstream attempts, 0 when no upstream was contacted. */
  readonly attempts: number;
};

/** Writes access records in batches. Nothing here waits or throws. */
export type AccessLog = {
  /** When false, callers need not build a record. A route may be silent on its own: then nothing is written for it. */
  readonly enabled: boolean;
  write(record: AccessRecord): void;
  /** Hands the lines collected so far to the sink. */
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

/** Lines are handed on at this age in milliseconds at the latest, or at this size. */
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
