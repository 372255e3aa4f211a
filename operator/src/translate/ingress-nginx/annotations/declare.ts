/** The declaration of an annotation of ingress-nginx, from which everything about the annotation is derived. */
import type { Form } from "../values.ts";

/**
 * The handling of a value that ingress-nginx cannot read. `I`: it ignores the setting. `D`: it answers every request
 * to the paths of the Ingress 503. `X`: it does not load the Ingress. `O`: it silently turns a protection off.
 */
export type Letter = "I" | "D" | "X" | "O";

/** The risk that ingress-nginx declares, for comparison with its `annotations-risk-level`. */
export type Risk = "Low" | "Medium" | "High" | "Critical";

/**
 * The degree to which this gateway serves an annotation. `differently`: with the difference that `here`
 * describes. `no-effect`: nothing has to be done. `refused`: never; `here` describes what happens instead.
 * `not-yet`: if it is protective, requests are answered 503; otherwise it has no effect, with a finding.
 */
export type Served = "served" | "differently" | "no-effect" | "refused" | "not-yet";

/** One annotation. `T` is the type of its value. */
export type NginxAnnotation<T = unknown> = {
  /** The key without the prefix. */
  readonly name: string;
  readonly form: Form<T>;
  readonly bad: Letter;
  /** The handling of an empty value, if it differs from that of an absent one. */
  readonly empty?: Letter;
  readonly risk: Risk;
  /** Whether it applies to the paths of its Ingress, or to the whole host. */
  readonly scope: "location" | "host";
  /** Whether it protects. If it cannot be served exactly, or more strictly, requests are answered 503. */
  readonly protective?: true;
  /** The value if nothing sets it; undefined if the feature is then off. */
  readonly builtIn?: T;
  /** The default as the reference page shows it. */
  readonly shownDefault: string;
  /** The key of ingress-nginx's ConfigMap that sets its default. */
  readonly configKey?: string;
  /** Annotations of this gateway for the same setting, which take precedence, by their names without prefix. */
  readonly own?: readonly string[];
  /** Whether defaults of the class for `own` apply even beside the annotation, which has no effect alone. */
  readonly keepsClassDefaults?: true;
  /** The name that it is another spelling of. That name wins unless its value is empty. */
  readonly aliasOf?: string;
  readonly served: Served;
  /** The form of `served` on the reference page, if it depends on the value and the group decides. */
  readonly shownServed?: "in part" | "refused";
  /** The effect in ingress-nginx, as one sentence for the reference page. */
  readonly meaning: string;
  /**
   * The way in which it is served here: one sentence for the reference page and, unless it is `served`, for
   * findings.
   */
  readonly here: string;
  /**
   * Whether a value requests nothing, so that nothing is lost without the annotation. It is a method for its
   * variance.
   */
  isNeutral?(value: T): boolean;
};

/** A name that only older versions of ingress-nginx knew, or no version at all. It has no effect there either. */
export type FormerAnnotation = {
  readonly name: string;
  /** Whether it covers all names that begin with it. */
  readonly isPrefix?: true;
  /** The replacement, as one sentence. */
  readonly instead: string;
};

export const declare = <T>(annotation: NginxAnnotation<T>): NginxAnnotation<T> => annotation;
