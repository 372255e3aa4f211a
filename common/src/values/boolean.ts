import { enumForm, formProblem } from "./form.ts";
import { ok, type Problem, type Result } from "./result.ts";

export const booleanForm = enumForm("a boolean", ["true", "false"]);

/** Reads `true` or `false` in any case; other words ("yes", "1") are rejected. See docs/reference/values.md#boolean. */
export function parseBoolean(text: string): Result<boolean, Problem> {
  const trimmed = text.trim();
  const word = trimmed.toLowerCase();
  if (word === "true") return ok(true);
  if (word === "false") return ok(false);
  return formProblem(booleanForm, trimmed);
}
