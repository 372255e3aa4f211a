/** Why requests fail: what the access log and the metric of refusals say of one cause (docs/reference/refusals.md). */
export type Reason<Text extends string = string> = {
  /** The status of the answer; `any` where the failure has no status of its own. */
  readonly status: number | "any";
  /** The `error` of the access log, and all others where parts of the proxy word the same cause differently. */
  readonly errors: readonly [Text, ...Text[]];
  readonly meaning: string;
};

/** Declares the cause of a failure, without its code. */
export const reason = <const Text extends string>(
  status: Reason["status"],
  errors: Text | readonly [Text, ...Text[]],
  meaning: string,
): Reason<Text> => ({ status, errors: typeof errors === "string" ? [errors] : errors, meaning });
