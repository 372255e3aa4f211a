import bunyan from "bunyan";
import { formatEvent, type LogFormat } from "./log-format.ts";
import { logLevels, type LogFields, type LogLevel } from "./log-level.ts";
import type { LogLevels } from "./log-levels.ts";
import type { LogSink } from "./log-sink.ts";

/** Writes events of one target. The message is constant text; variable parts belong in the fields. */
export type Logger = {
  readonly target: string;
  error(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
  trace(fields: LogFields, message: string): void;
  /**
   * Reports whether an event of this severity would be written, for callers that would have to compute an expensive
   * field.
   */
  isEnabled(level: LogLevel): boolean;
  /**
   * Returns a logger of another target. The fields are added to each of its events, in addition to those of this
   * logger.
   */
  child(target: string, fields?: LogFields): Logger;
};

export type LoggingOptions = {
  /** The levels, shared by all loggers of a process or thread. */
  readonly levels: LogLevels;
  readonly format: LogFormat;
  readonly sink: LogSink;
};

/**
 * Creates the first logger of a process; the loggers of other targets are its children. After the sink had to drop
 * lines because its reader was too slow, the next event is preceded by one with the number of dropped lines.
 */
export function createLogger(target: string, { levels, format, sink }: LoggingOptions): Logger {
  let reportedDrops = 0;
  const write = (target_: string, { level, time, msg, fields }: BunyanRecord): void => {
    const dropped = sink.droppedLines();
    if (dropped > reportedDrops && !sink.isCongested()) {
      const event = {
        time: time.getTime(),
        level: "warn",
        target: target_,
        message: "log lines were dropped",
      } as const;
      sink.write(formatEvent({ ...event, fields: { dropped_lines: dropped - reportedDrops } }, format));
      reportedDrops = dropped;
    }
    sink.write(
      formatEvent(
        { time: time.getTime(), level: levelName(level), target: target_, message: msg, fields },
        format,
      ),
    );
  };
  const create = (name: string, bound: LogFields): Logger => {
    const isEnabled = levels.of(name);
    const core = bunyan.createLogger({
      name,
      streams: [
        {
          type: "raw",
          // The level is checked before, since it can change.
          level: "trace",
          stream: {
            write: (record: BunyanRecord) => write(name, record),
          } as unknown as NodeJS.WritableStream,
        },
      ],
    });
    const emit =
      (level: LogLevel) =>
      (fields: LogFields, message: string): void => {
        if (isEnabled(level)) core[level]({ fields: { ...bound, ...fields } }, message);
      };
    return {
      target: name,
      error: emit("error"),
      warn: emit("warn"),
      info: emit("info"),
      debug: emit("debug"),
      trace: emit("trace"),
      isEnabled,
      child: (childTarget, fields = {}) => create(childTarget, { ...bound, ...fields }),
    };
  };
  return create(target, {});
}

/** A logger that writes nothing, for code that runs without a process around it. */
export const silentLogger: Logger = {
  target: "",
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  trace: () => {},
  isEnabled: () => false,
  child: () => silentLogger,
};

/** A record that bunyan passes to a raw stream, with the fields that are used here. */
type BunyanRecord = {
  readonly level: number;
  readonly time: Date;
  readonly msg: string;
  readonly fields: LogFields;
};

function levelName(level: number): LogLevel {
  return logLevels.find((name) => bunyan.resolveLevel(name) === level) ?? "error";
}
