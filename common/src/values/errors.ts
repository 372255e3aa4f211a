import { problem, type Result } from "./result.ts";

/** The text of a thrown value: the message of an Error, or the value as a string. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Runs work at a boundary that a bug must not cross. An exception becomes an expected failure, with the message that
 * `describe` returns.
 */
export function withoutThrowing<Value>(
  work: () => Result<Value>,
  describe: (error: unknown) => string = textOf,
): Result<Value> {
  try {
    return work();
  } catch (error) {
    return problem(describe(error));
  }
}
