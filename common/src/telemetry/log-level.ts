import { shown } from "../values/clip.ts";
import { ok, problem, type Problem, type Result } from "../values/result.ts";

/** The severities of a log event, most severe first. */
export const logLevels = ["error", "warn", "info", "debug", "trace"] as const;

export type LogLevel = (typeof logLevels)[number];

/** A threshold: events at least this severe are written. */
export type LogThreshold = LogLevel | "off";

/**
 * The events that are written: a general threshold, and thresholds for targets that begin with a prefix. The longest
 * matching prefix decides. See docs/reference/flags.md, `--log`.
 */
export type LogDirectives = {
  readonly level: LogThreshold;
  readonly targets: readonly { readonly prefix: string; readonly level: LogThreshold }[];
};

const expected =
  'a level (error, warn, info, debug, trace, off) or directives such as "info,svc_proxy::access=off"';

/**
 * Reads `--log`: a level, `target=level` directives, or both, separated by commas. Later parts override earlier ones.
 */
export function parseLogDirectives(text: string): Result<LogDirectives, Problem> {
  let level: LogThreshold = "info";
  const targets = new Map<string, LogThreshold>();
  for (const part of text.split(",").map((directive) => directive.trim())) {
    const [left = "", right, ...rest] = part.split("=").map((side) => side.trim());
    const threshold = asThreshold(right ?? left);
    if (threshold === undefined || rest.length > 0)
      return problem(`"${shown(part)}" is not a log directive`, expected);
    if (right === undefined) level = threshold;
    else if (/^[\w:.-]+$/.test(left)) targets.set(left, threshold);
    else return problem(`"${shown(left)}" is not a log target`, expected);
  }
  return ok({ level, targets: [...targets].map(([prefix, threshold]) => ({ prefix, level: threshold })) });
}

/** Writes directives in the syntax of `--log`. */
export function formatLogDirectives({ level, targets }: LogDirectives): string {
  return [level, ...targets.map((target) => `${target.prefix}=${target.level}`)].join(",");
}

/** The threshold of a target: that of its longest matching prefix, else the general one. */
export function thresholdOf(target: string, { level, targets }: LogDirectives): LogThreshold {
  return targets
    .filter(({ prefix }) => target.startsWith(prefix))
    .reduce((best, next) => (next.prefix.length > best.prefix.length ? next : best), { prefix: "", level })
    .level;
}

function asThreshold(text: string): LogThreshold | undefined {
  const word = text.toLowerCase();
  return word === "off" ? "off" : logLevels.find((level) => level === word);
}

/** Variables of an event. Values are written as JSON; secrets are masked (docs/reference/access-log.md#secrets). */
export type LogFields = Readonly<Record<string, unknown>>;
