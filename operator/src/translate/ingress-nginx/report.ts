/** What becomes of each annotation of an Ingress. */
import type { ObjectRef } from "../../api/object.ts";

/**
 * `served`: as in ingress-nginx. `differently`: with a difference. `no-effect`: there is nothing to do, or the setting
 * does nothing there either. `refused`: it is not done.
 */
export type Outcome = "served" | "differently" | "no-effect" | "refused";

/** What becomes of one annotation. */
export type Verdict = {
  /** Its full key. */
  readonly key: string;
  readonly outcome: Outcome;
  /** One sentence: the difference, why there is nothing to do, or what happens instead; empty for `served`. */
  readonly text: string;
};

/** The annotations of one Ingress, in their order. */
export type NginxReport = {
  readonly object: ObjectRef;
  readonly verdicts: readonly Verdict[];
  /** How many of its paths are served without a protection that is not available here; see `whenUnprotected`. */
  readonly unprotectedPaths: number;
};
