/** The outcome of each annotation of an Ingress. */
import type { ObjectRef } from "../../api/object.ts";

/**
 * `served`: as in ingress-nginx. `differently`: with a difference. `no-effect`: nothing has to be done, or the
 * setting has no effect in ingress-nginx either. `refused`: it is not supported.
 */
export type Outcome = "served" | "differently" | "no-effect" | "refused";

/** The outcome of one annotation. */
export type Verdict = {
  /** The full key of the annotation. */
  readonly key: string;
  readonly outcome: Outcome;
  /**
   * One sentence: the difference, the reason why nothing has to be done, or what happens instead; empty for
   * `served`.
   */
  readonly text: string;
};

/** The verdicts on the annotations of one Ingress, in the order of the annotations. */
export type NginxReport = {
  readonly object: ObjectRef;
  readonly verdicts: readonly Verdict[];
  /**
   * The number of its paths that are served without a protection that this gateway does not support; see
   * `whenUnprotected`.
   */
  readonly unprotectedPaths: number;
};
