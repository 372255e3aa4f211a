/**
 * The result of an operation. Expected failures are values that the caller must inspect; exceptions are for bugs only.
 * See docs/architecture.md, "Errors are values".
 */
export type Result<T, E = Problem> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

/**
 * The reason why a piece of input cannot be used. `message` is one sentence on which a user can act; `expected` names
 * the form that would have been accepted.
 */
export type Problem = {
  readonly message: string;
  readonly expected?: string;
};

export const ok = <T>(value: T): Result<T, never> => ({ ok: true, value });

export const fail = <E>(error: E): Result<never, E> => ({ ok: false, error });

/** Shorthand for a failed Result that carries a Problem. */
export const problem = (message: string, expected?: string): Result<never, Problem> =>
  fail(expected === undefined ? { message } : { message, expected });
