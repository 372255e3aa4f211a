import type { LogFormat } from "@svc-gateway/common/telemetry/log-format.ts";
import { passes, thresholdOf, type LogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import type { LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { accessLineWriter, type AccessLogPathMode, type AccessRecord } from "./access-line.ts";

/** Writes access records, each at once: the sink gathers them. Nothing here waits or throws. */
export type AccessLog = {
  /** When false, callers need not build a record. A single route may suppress its records as well. */
  readonly enabled: boolean;
  write(record: AccessRecord): void;
};

/** The target of access records in `--log` directives. */
export const accessLogTarget = "svc_proxy::access";

export type AccessLogOptions = {
  /** `--access-log`. */
  readonly enabled: boolean;
  readonly pathMode: AccessLogPathMode;
  readonly format: LogFormat;
  readonly directives: LogDirectives;
  readonly sink: Pick<LogSink, "write">;
};

/** Creates the access log of one worker. */
export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { sink } = options;
  const enabled = options.enabled && passes("info", thresholdOf(accessLogTarget, options.directives));
  const toLine = accessLineWriter({
    format: options.format,
    pathMode: options.pathMode,
    target: accessLogTarget,
  });
  return {
    enabled,
    write(record) {
      if (enabled) sink.write(toLine(record));
    },
  };
}
