import { systemClock, type Clock } from "../time/clock.ts";
import { formatDuration } from "../values/duration.ts";
import { formatLogDirectives, type LogDirectives } from "./log-level.ts";
import type { Logger } from "./logger.ts";

/** The log level of a process in the syntax of `--log`, and the end of a change. */
export type LogLevelState = {
  readonly log: string;
  /** The value of `--log`, which applies again after a change. */
  readonly configured: string;
  /** The end of the change (RFC 3339); null without a change. */
  readonly until: string | null;
};

/** Changes the log level of a running process, for a time (docs/operations.md, "Log level"). */
export type LogLevelControl = {
  readonly state: () => LogLevelState;
  /** Changes the level for a time, replacing a change that is in force. */
  readonly change: (directives: LogDirectives, forMs: number) => void;
  /** Resets the level to `--log` immediately. */
  readonly reset: () => void;
  /** Cancels the timer for the end of a change. */
  readonly close: () => void;
};

export type LogLevelOptions = {
  readonly configured: LogDirectives;
  /** Applies directives in all threads. */
  readonly apply: (directives: LogDirectives) => void;
  readonly log: Logger;
  readonly clock?: Clock;
};

/** Creates the control of a process. Each change is logged, unless both the old and the new level suppress warnings. */
export function createLogLevelControl(options: LogLevelOptions): LogLevelControl {
  const { configured, apply, log, clock = systemClock } = options;
  let changed: { readonly directives: LogDirectives; readonly untilMs: number } | undefined;
  let cancel = (): void => {};
  const present = (): LogDirectives => changed?.directives ?? configured;

  const switchTo = (next: typeof changed, fields: Readonly<Record<string, string>>): void => {
    const report = (): void =>
      log.warn(
        { event: "log_level_changed", log: formatLogDirectives(next?.directives ?? configured), ...fields },
        "log level changed",
      );
    // A level that hides the message is applied after it.
    const isReported = log.isEnabled("warn");
    if (isReported) report();
    changed = next;
    apply(present());
    if (!isReported) report();
  };

  const reset = (reason: string): void => {
    cancel();
    if (changed !== undefined) switchTo(undefined, { reason });
  };

  return {
    state: () => ({
      log: formatLogDirectives(present()),
      configured: formatLogDirectives(configured),
      until: changed === undefined ? null : new Date(changed.untilMs).toISOString(),
    }),
    change(directives, forMs) {
      cancel();
      switchTo(
        { directives, untilMs: clock.nowMs() + forMs },
        { reason: "admin", for: formatDuration(forMs) },
      );
      cancel = clock.schedule(forMs, () => reset("time is over"));
    },
    reset: () => reset("admin"),
    close: () => cancel(),
  };
}
