import { formProblem, type Form } from "./form.ts";
import { ok, problem, type Problem, type Result } from "./result.ts";

/** The maximum duration in an annotation or a resource field, in milliseconds. */
export const maxDurationMs = 24 * 60 * 60 * 1000;

export const durationForm: Form = {
  pattern: "^(0|(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|ms|s|m|h))+)$",
  noun: "a duration",
  expected: 'a duration such as "15s", "1.5s" or "1m30s" (units ns, us, ms, s, m, h; at most 24h)',
};

/**
 * The maximum length of a text, which bounds the work that a hostile value can cause; the longest useful duration has
 * about 40 characters.
 */
const maxLength = 200;

const nanosecondsPerUnit: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

const term = /(\d+\.?\d*|\.\d+)(ns|us|ms|s|m|h)/y;

/**
 * Reads a Go duration string: one or more `<number><unit>` pairs without spaces, or a bare `0`.
 *
 * The result is in milliseconds and can have a fraction (`100us` is 0.1); fractions of a nanosecond are dropped. `0`
 * and `0s` yield 0; the caller decides whether that means "absent" or "off". Signs are rejected, and so is any value
 * above `maxMs`. See docs/reference/values.md#duration.
 */
export function parseDuration(text: string, maxMs: number = maxDurationMs): Result<number, Problem> {
  const trimmed = text.trim();
  if (trimmed === "0") return ok(0);
  if (trimmed === "") return problem("the duration is empty", durationForm.expected);
  if (trimmed.length > maxLength) return formProblem(durationForm, trimmed);
  let nanoseconds = 0;
  term.lastIndex = 0;
  while (term.lastIndex < trimmed.length) {
    const match = term.exec(trimmed);
    if (match === null) return formProblem(durationForm, trimmed);
    nanoseconds += wholeNanoseconds(match[1] ?? "", match[2] ?? "");
  }
  const milliseconds = nanoseconds / 1e6;
  return milliseconds <= maxMs
    ? ok(milliseconds)
    : problem(`"${trimmed}" is longer than ${formatDuration(maxMs)}`, durationForm.expected);
}

/** Writes a duration in milliseconds as the shortest exact Go duration string: 90000 is `1m30s`, 0 is `0s`. */
export function formatDuration(milliseconds: number): string {
  let rest = Math.round(milliseconds * 1e6);
  let text = "";
  for (const unit of ["h", "m", "s", "ms", "us", "ns"]) {
    const size = nanosecondsPerUnit[unit] ?? 1;
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === "" ? "0s" : text;
}

/** Scales integer and fraction separately, so that the binary rounding of a decimal cannot affect the result. */
function wholeNanoseconds(number: string, unit: string): number {
  const size = nanosecondsPerUnit[unit] ?? 1;
  const [whole = "", fraction = ""] = number.split(".");
  const digits = fraction.slice(0, 13);
  return Number(whole) * size + Math.floor((Number(digits) * size) / 10 ** digits.length);
}
