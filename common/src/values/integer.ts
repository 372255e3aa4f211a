import { ok, problem, type Problem, type Result } from "./result.ts";

/** Reads a decimal whole number between `min` and `max`, both included. Signs other than a leading `-` are refused. */
export function parseInteger(
  text: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): Result<number, Problem> {
  const trimmed = text.trim();
  const expected =
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${min}`
      : `a whole number from ${min} to ${max}`;
  if (!/^-?\d{1,16}$/.test(trimmed))
    return problem(`"${trimmed.slice(0, 40)}" is not a whole number`, expected);
  const value = Number(trimmed);
  return value >= min && value <= max ? ok(value) : problem(`${trimmed} is out of range`, expected);
}
