/**
 * A feature of a route, declared once as data. Annotation parsing, class defaults, the admission policy and the
 * reference pages derive from the declaration, so that they cannot disagree (CONTRIBUTING.md, "Before you write").
 */
import type { z } from "zod";
import type { Form } from "../values/form.ts";
import { namespacedNameForm, parseNamespacedName, type NamespacedName } from "../values/namespaced-name.ts";
import type { Result } from "../values/result.ts";

/** Prefix of every annotation that this gateway reads. */
export const annotationPrefix = "ingress.svc-labs.dev/";

/** The type of an annotation's value, as described in docs/reference/values.md. */
type AnnotationType =
  | "boolean"
  | "cidr-list"
  | "csv"
  | "duration"
  | "enum"
  | "integer"
  | "mirror-target"
  | "namespaced-name"
  | "newline-list"
  | "replacement"
  | "size"
  | "string";

/**
 * Reports a part of a value that is ignored. The message is a sentence without its full stop. With `event`, the Ingress
 * also gets an Event about it.
 */
export type Warn = (message: string, notice?: "event") => void;

/** One Ingress annotation. `T` is the type of its parsed value. */
export type AnnotationDefinition<T> = {
  /** The key without the prefix. */
  readonly name: string;
  readonly type: AnnotationType;
  /**
   * The form that the admission policy of the chart requires of the trimmed value; absent if only the controller can
   * check it.
   */
  readonly form?: Form;
  /** The behaviour without the annotation, for the reference page. */
  readonly builtIn: string;
  /** The equivalent in the Gateway API, for the reference page. */
  readonly gatewayApi: string;
  /** The kind of the resource that the value names. */
  readonly resource?: string;
  /** The problems, besides a value that does not parse, that are reported in an `InvalidAnnotation` Event. */
  readonly alsoInEvents?: string;
  /** Whether a SvcIngressClassParameters object can set a default for the annotation. */
  readonly classDefault: boolean;
  /** Whether an empty value means absent instead of being a mistake. */
  readonly emptyIsAbsent?: true;
  /**
   * Whether a resource that the value names in another namespace needs a ReferenceGrant there, because it protects
   * something or holds secrets; if absent, every namespace may refer to it (docs/cross-namespace-references.md).
   */
  readonly needsGrant?: true;
  /**
   * The treatment of a value that does not parse. `ignore`: it counts as absent. `deny`: it counts as a reference to a
   * missing resource, so that a requested protection is never silently absent.
   */
  readonly onInvalid: "ignore" | "deny";
  /** The replacement for a value of an Ingress that does not parse, if an absent value would have another meaning. */
  readonly ifInvalid?: T;
  /** Whether the annotation restricts clients or requests: if it cannot be applied, more are admitted than intended. */
  readonly restricts?: true;
  /** The consequence of a value that does not parse; ends the Event's message. */
  readonly fallback: string;
  /** One sentence for the reference page. */
  readonly doc: string;
  /**
   * Reads a value that is already trimmed and not empty. The result is used directly and not parsed again. Parts of the
   * value that are omitted although the rest is used are reported to `warn`. A value that means "absent" yields
   * undefined.
   */
  readonly parse: (text: string, warn: Warn) => Result<T>;
};

/**
 * The values of annotations, by their names within their feature; for an undefined value, the built-in default applies.
 */
export type ValuesOf<Annotations> = {
  readonly [Name in keyof Annotations]:
    (Annotations[Name] extends AnnotationDefinition<infer T> ? T : never) | undefined;
};

/** A feature: the value in the snapshot, and the annotations with which an Ingress sets it. */
type FeatureDefinition<Slug extends string, Schema extends z.ZodType, Annotations> = {
  readonly slug: Slug;
  readonly schema: Schema;
  readonly annotations: Annotations;
  /**
   * The value for an invalid object or annotation that should protect the route: every request is rejected. No other
   * value of the route replaces it. It is recognised by identity, because an equal value can be valid. Absent if nothing
   * invalid closes routes.
   */
  readonly closing?: z.infer<Schema>;
};

/** A feature that is computed from the values of its own annotations, so that it needs no translator. */
type ValueFeature<Slug extends string, Schema extends z.ZodType, Annotations> = FeatureDefinition<
  Slug,
  Schema,
  Annotations
> & {
  /**
   * Returns the value of the feature, or undefined if it is off. `values` are those of the Ingress, or else of its
   * class; `ofClass` returns those of the class alone, for a feature whose annotations apply only together. A pure
   * function. It is declared as a method, so that features with different annotations have one type.
   */
  fromAnnotations(
    values: ValuesOf<Annotations>,
    ofClass: () => ValuesOf<Annotations>,
  ): z.infer<Schema> | undefined;
};

/** Annotations about something that is not part of a route, so that no filter implements them. */
type Option<Slug extends string, Annotations> = {
  readonly slug: Slug;
  readonly annotations: Annotations;
  /** The modules that implement the annotations instead of a filter; each names the page of the slug. */
  readonly handledIn: readonly string[];
};

export const defineAnnotation = <T>(definition: AnnotationDefinition<T>): AnnotationDefinition<T> =>
  definition;

/** The annotations of a feature or option, by their names in its code. */
export type AnnotationRecord = { readonly [name: string]: AnnotationDefinition<unknown> };

/** A feature that is computed from its annotations, of any type. */
export type AnyValueFeature = ValueFeature<string, z.ZodType, AnnotationRecord>;

/** Declares a feature that is computed from its annotations; the operator needs no further code for it. */
export const defineFeature = <
  const Slug extends string,
  Schema extends z.ZodType,
  Annotations extends AnnotationRecord,
>(
  definition: ValueFeature<Slug, Schema, Annotations>,
): ValueFeature<Slug, Schema, Annotations> => definition;

/** Declares a feature whose annotations refer to other objects, so that it has a translator in the operator. */
export const defineTranslatedFeature = <
  const Slug extends string,
  Schema extends z.ZodType,
  Annotations extends AnnotationRecord,
>(
  definition: FeatureDefinition<Slug, Schema, Annotations>,
): FeatureDefinition<Slug, Schema, Annotations> => definition;

/** Declares annotations that change how requests are matched to routes, or the handshakes before them. */
export const defineOption = <const Slug extends string, Annotations extends AnnotationRecord>(
  definition: Option<Slug, Annotations>,
): Option<Slug, Annotations> => definition;

/** The full key of an annotation on an Ingress. */
export function annotationKey({ name }: { readonly name: string }): string {
  const known = annotationKeys.get(name);
  if (known !== undefined) return known;
  const key = `${annotationPrefix}${name}`;
  annotationKeys.set(name, key);
  return key;
}

/** A cache of the keys of declared names, since building a key on each lookup is slow. */
const annotationKeys = new Map<string, string>();

/** The common part of annotations that name a resource. */
const reference = {
  type: "namespaced-name",
  form: namespacedNameForm,
  classDefault: true,
  parse: parseNamespacedName,
} as const;

type Named = Pick<
  AnnotationDefinition<unknown>,
  "name" | "doc" | "gatewayApi" | "alsoInEvents" | "restricts"
> & {
  readonly resource: string;
};

/**
 * Declares an annotation that authenticates clients. It fails closed: an unparsable value is treated as a reference to
 * a missing resource, and every request gets 503.
 */
export const defineProtection = (named: Named): AnnotationDefinition<NamespacedName | "invalid"> => ({
  alsoInEvents: "a resource that does not exist, is not permitted or is unusable",
  ...named,
  ...reference,
  builtIn: "no authentication",
  needsGrant: true,
  onInvalid: "deny",
  ifInvalid: "invalid",
  fallback: "every request is answered 503",
});

/** Declares an annotation whose feature is off when the resource that it names cannot be used. */
export const defineReference = (
  named: Named & Pick<AnnotationDefinition<unknown>, "fallback" | "builtIn">,
): AnnotationDefinition<NamespacedName> => ({
  alsoInEvents: "a resource that does not exist",
  ...named,
  ...reference,
  onInvalid: "ignore",
});
