import { ok, problem, type Problem, type Result } from "./result.ts";

/** Reads `true` or `false` in any case; other words ("yes", "1") are refused. See docs/reference/values.md#boolean. */
export function parseBoolean(text: string): Result<boolean, Problem> {
  const word = text.trim().toLowerCase();
  if (word === "true") return ok(true);
  if (word === "false") return ok(false);
  return problem(`"${text.trim().slice(0, 40)}" is not a boolean`, "true or false");
}
