import { logLevels, thresholdOf, type LogDirectives, type LogLevel } from "./log-level.ts";

/** Whether events of one target are written, by their severity. */
export type TargetLevel = (level: LogLevel) => boolean;

/** The directives of a process or thread, which can change while it runs. */
export type LogLevels = {
  readonly directives: () => LogDirectives;
  /** Applies to every logger at once, and to those that are made later. */
  readonly change: (directives: LogDirectives) => void;
  /** The answers follow each change. An event that is not written costs two comparisons. */
  readonly of: (target: string) => TargetLevel;
};

/** How many levels a threshold lets pass; all levels before that place are written. */
const passing = (target: string, directives: LogDirectives): number => {
  const threshold = thresholdOf(target, directives);
  return threshold === "off" ? 0 : logLevels.indexOf(threshold) + 1;
};

/**
 * Creates the levels of a process. Targets look for a new value themselves, so that loggers of connections and requests need
 * not be remembered.
 */
export function createLogLevels(initial: LogDirectives): LogLevels {
  let present = initial;
  return {
    directives: () => present,
    change: (directives) => {
      present = directives;
    },
    of(target) {
      let known = present;
      let levels = passing(target, known);
      return (level) => {
        if (known !== present) {
          known = present;
          levels = passing(target, known);
        }
        return places[level] < levels;
      };
    },
  };
}

/** A look-up instead of a search: it is made for every event. */
const places = Object.fromEntries(logLevels.map((level, place) => [level, place])) as Record<
  LogLevel,
  number
>;
