import { formProblem, type Form } from "./form.ts";
import { ok, problem, type Problem, type Result } from "./result.ts";

/** The least and the greatest value of a whole number, both included. */
type IntegerRange = { readonly min: number; readonly max?: number };

/** The form of a whole number; its range is not part of it. */
export const integerForm = ({ min, max = Number.MAX_SAFE_INTEGER }: IntegerRange): Form => ({
  pattern: "^-?[0-9]{1,16}$",
  noun: "a whole number",
  expected:
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${min}`
      : `a whole number from ${min} to ${max}`,
});

/** Reads a decimal whole number between `min` and `max`, both included. Signs other than a leading `-` are rejected. */
export function parseInteger(text: string, range: IntegerRange): Result<number, Problem> {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  const trimmed = text.trim();
  const form = integerForm(range);
  if (!/^-?\d{1,16}$/.test(trimmed)) return formProblem(form, trimmed);
  const value = Number(trimmed);
  return value >= min && value <= max ? ok(value) : problem(`${trimmed} is out of range`, form.expected);
}
