/**
 * The cause of failed requests, as reported by the access log and the metric of refusals (docs/reference/refusals.md).
 */
export type Reason<Text extends string = string> = {
  /** The status of the answer; `any` if the failure has no particular status. */
  readonly status: number | "any";
  /**
   * The `error` of the access log, followed by alternative texts if parts of the proxy word the same cause differently.
   */
  readonly errors: readonly [Text, ...Text[]];
  readonly meaning: string;
};

/** Declares the cause of a failure, without its code. */
export const reason = <const Text extends string>(
  status: Reason["status"],
  errors: Text | readonly [Text, ...Text[]],
  meaning: string,
): Reason<Text> => ({ status, errors: typeof errors === "string" ? [errors] : errors, meaning });
