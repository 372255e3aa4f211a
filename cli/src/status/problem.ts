/** Something that is wrong in a cluster. */
export type StatusProblem = {
  /** `error`: something is not served, or not as written. `warning`: it is served, and deserves attention. */
  readonly severity: "error" | "warning";
  /** What it is about: `Gateway web/shop`, or the name of a pod. */
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
