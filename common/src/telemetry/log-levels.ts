import { logLevels, thresholdOf, type LogDirectives, type LogLevel } from "./log-level.ts";

/** Reports whether events of one target are written, by their severity. */
export type TargetLevel = (level: LogLevel) => boolean;

/** The directives of a process or thread, which can change while it runs. */
export type LogLevels = {
  readonly directives: () => LogDirectives;
  /** Changes the level of all loggers immediately, including those that are created later. */
  readonly change: (directives: LogDirectives) => void;
  /** Returns the level of a target, which follows each change. An event that is not written costs two comparisons. */
  readonly of: (target: string) => TargetLevel;
};

/** The number of levels that a threshold lets pass; all levels before that index are written. */
const passing = (target: string, directives: LogDirectives): number => {
  const threshold = thresholdOf(target, directives);
  return threshold === "off" ? 0 : logLevels.indexOf(threshold) + 1;
};

/**
 * Creates the levels of a process. Targets check for changes themselves, so that loggers of connections and requests
 * need not be registered.
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

/** The index of each level: a lookup instead of a search, since it is needed for every event. */
const places = Object.fromEntries(logLevels.map((level, place) => [level, place])) as Record<
  LogLevel,
  number
>;
