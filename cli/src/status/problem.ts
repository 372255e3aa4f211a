/** A problem in a cluster. */
export type StatusProblem = {
  /** `error`: something is not served, or not as written. `warning`: it is served, and deserves attention. */
  readonly severity: "error" | "warning";
  /** The subject of the problem, such as `Gateway web/shop` or a pod. */
  readonly subject: string;
  readonly message: string;
};

export const error = (subject: string, message: string): StatusProblem => ({
  severity: "error",
  subject,
  message,
});

export const warning = (subject: string, message: string): StatusProblem => ({
  severity: "warning",
  subject,
  message,
});
