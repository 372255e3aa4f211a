/** How an annotation of ingress-nginx is declared; everything about it is derived from its declaration. */
import type { Form } from "../values.ts";

/**
 * What ingress-nginx does with a value that it cannot read. `I`: it ignores the setting. `D`: every request to the paths of
 * the Ingress is answered 503. `X`: it does not load the Ingress. `O`: it turns a protection off without a word.
 */
export type Letter = "I" | "D" | "X" | "O";

/** The risk that ingress-nginx declares, which its `annotations-risk-level` compares with. */
export type Risk = "Low" | "Medium" | "High" | "Critical";

/**
 * How far this gateway serves it. `differently`: with the difference that `here` names. `no-effect`: there is nothing to
 * do. `refused`: never; `here` says what happens instead. `not-yet`: a protective one is answered 503 and any other one
 * has no effect, with a finding.
 */
export type Served = "served" | "differently" | "no-effect" | "refused" | "not-yet";

/** One annotation. `T` is what its value means. */
export type NginxAnnotation<T = unknown> = {
  /** The key without the prefix. */
  readonly name: string;
  readonly form: Form<T>;
  readonly bad: Letter;
  /** What an empty value is, where it is not the same as an absent one. */
  readonly empty?: Letter;
  readonly risk: Risk;
  /** Whether it concerns the paths of its Ingress, or the whole host. */
  readonly scope: "location" | "host";
  /** Whether it protects: what cannot be served exactly, or more strictly, is answered 503. */
  readonly protective?: true;
  /** The value when nothing sets it; undefined: the feature is off. */
  readonly builtIn?: T;
  /** The default as the reference page shows it. */
  readonly shownDefault: string;
  /** The key of ingress-nginx's ConfigMap that holds its default. */
  readonly configKey?: string;
  /** Annotations of this gateway about the same setting, which win, by their names without prefix. */
  readonly own?: readonly string[];
  /** The name that it is another spelling of; that one wins unless it is empty. */
  readonly aliasOf?: string;
  readonly served: Served;
  /** How the reference page says this, where it depends on the value and `served` is for its group to decide. */
  readonly shownServed?: "in part" | "refused";
  /** What it does, as one sentence for the reference page. */
  readonly meaning: string;
  /** How it is served here: one sentence for the reference page and, unless it is `served`, for findings. */
  readonly here: string;
  /** Whether a value asks for nothing, so that nothing is lost without the annotation. A method, for its variance. */
  isNeutral?(value: T): boolean;
};

/** A name that older versions of ingress-nginx knew, or none: nothing is done there either. */
export type FormerAnnotation = {
  readonly name: string;
  /** Whether it stands for all names that begin with it. */
  readonly isPrefix?: true;
  /** What to use instead, as one sentence. */
  readonly instead: string;
};

export const declare = <T>(annotation: NginxAnnotation<T>): NginxAnnotation<T> => annotation;
