import { problem, type Result } from "./result.ts";

/** What was thrown, in words: the message of an Error, anything else as text. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Runs work at a border that a bug must not cross: what it throws is a failure like any other, whose message `describe`
 * gives.
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
