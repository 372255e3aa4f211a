import { type AccessFieldName, usualAccessFields } from "@svc-gateway/common/values/access-fields.ts";
import { chosenFields, type FieldChoice } from "@svc-gateway/common/values/access-field-choice.ts";
import type { LogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import type { LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { accessLineWriter, type AccessLogFormat } from "./access-line.ts";
import type { AccessLogPathMode, AccessRecord } from "./access-record.ts";

/** Writes access records immediately to the sink, which batches them. No method waits or throws. */
export type AccessLog = {
  /**
   * When false, callers need not build a record. Follows changes of the log level (docs/operations.md, "Log level").
   * Single routes can also suppress their records.
   */
  readonly enabled: boolean;
  /** The details that lines show besides the usual fields; callers collect only these. */
  readonly shows: AccessLogDetail;
  write(record: AccessRecord): void;
  /** Returns the log for routes or listeners that choose other fields; the same one for the same choice. */
  withFields(choice: FieldChoice): AccessLog;
};

/** The part of `AccessDetails` that lines show: `usual` none, `details` all except the upstream times, `times` all. */
export type AccessLogDetail = "usual" | "details" | "times";

const maxLogs = 256;

/** The target of access records in `--log` directives. */
export const accessLogTarget = "svc_proxy::access";

export type AccessLogOptions = {
  /** `--access-log`. */
  readonly enabled: boolean;
  readonly pathMode: AccessLogPathMode;
  readonly format: AccessLogFormat;
  /** `--access-log-fields`. */
  readonly fields?: FieldChoice;
  readonly levels: LogLevels;
  readonly sink: Pick<LogSink, "write">;
};

/** Creates the access log of one worker. */
export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { sink, format, pathMode } = options;
  const passes = options.levels.of(accessLogTarget);
  const isEnabled = (): boolean => options.enabled && passes("info");
  const base = chosenFields(options.fields ?? [], usualAccessFields);
  /** The logs by their fields, at most `maxLogs`; further ones are created at each call. */
  const logs = new Map<string, AccessLog>();

  const logWith = (fields: readonly AccessFieldName[]): AccessLog => {
    const key = fields.join();
    let log = logs.get(key);
    if (log === undefined) {
      log = create(fields);
      if (logs.size < maxLogs) logs.set(key, log);
    }
    return log;
  };

  const create = (fields: readonly AccessFieldName[]): AccessLog => {
    const toLine = accessLineWriter({ format, pathMode, target: accessLogTarget, fields });
    return {
      get enabled() {
        return isEnabled();
      },
      shows: detailOf(format, fields),
      write(record) {
        if (isEnabled()) sink.write(toLine(record));
      },
      withFields: (choice) => (isFixed(format) ? logWith(base) : logWith(chosenFields(choice, base))),
    };
  };

  return logWith(base);
}

/** A log that discards all records. */
export const noAccessLog: AccessLog = {
  enabled: false,
  shows: "usual",
  write: () => {},
  withFields: () => noAccessLog,
};

const isFixed = (format: AccessLogFormat): boolean => format === "common" || format === "combined";

const usual: ReadonlySet<string> = new Set([...usualAccessFields, "retries"]);
const timed: ReadonlySet<string> = new Set(["upstream_connect_ms", "upstream_first_byte_ms", "upstream_ms"]);

function detailOf(format: AccessLogFormat, fields: readonly string[]): AccessLogDetail {
  if (isFixed(format)) return "details";
  if (fields.some((name) => timed.has(name))) return "times";
  return fields.every((name) => usual.has(name)) ? "usual" : "details";
}
