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

/** The form of an annotation's value, as docs/reference/values.md describes it. */
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
 * Reports a part of a value that is ignored: a sentence without its full stop. With `event`, the Ingress gets an Event
 * about it as well.
 */
export type Warn = (message: string, notice?: "event") => void;

/** One Ingress annotation. `T` is what its value means. */
export type AnnotationDefinition<T> = {
  /** The key without the prefix. */
  readonly name: string;
  readonly type: AnnotationType;
  /**
   * The form that the admission policy of the chart requires of the trimmed value; absent when only the controller can
   * check it.
   */
  readonly form?: Form;
  /** What applies when it is not set, for the reference page. */
  readonly builtIn: string;
  /** The equivalent in the Gateway API, for the reference page. */
  readonly gatewayApi: string;
  /** The kind of the resource that the value names. */
  readonly resource?: string;
  /** What besides a value that does not parse is reported in an `InvalidAnnotation` Event. */
  readonly alsoInEvents?: string;
  /** Whether a SvcIngressClassParameters object may hold a default for it. */
  readonly classDefault: boolean;
  /** Whether an empty value means absent instead of being a mistake. */
  readonly emptyIsAbsent?: true;
  /**
   * Whether a resource that the value names in another namespace needs a ReferenceGrant there, because it protects
   * something or holds secrets; absent: every namespace may use it (docs/cross-namespace-references.md).
   */
  readonly needsGrant?: true;
  /**
   * What a value that does not parse means. `ignore`: it counts as absent. `deny`: it counts as a reference to a
   * missing resource, so that a protection that was asked for is never silently absent.
   */
  readonly onInvalid: "ignore" | "deny";
  /** The value in place of an Ingress's own one that does not parse, where an absent one would mean something else. */
  readonly ifInvalid?: T;
  /** Whether it restricts clients or requests: when it cannot be applied, more are admitted than intended. */
  readonly restricts?: true;
  /** The consequence of a value that does not parse; ends the Event's message. */
  readonly fallback: string;
  /** One sentence for the reference page. */
  readonly doc: string;
  /**
   * Reads a value, already trimmed and not empty. The result is what is used: it is not parsed again. Parts of the
   * value that are left out although the rest is used are reported to `warn`. A value that means "absent" reads as
   * undefined.
   */
  readonly parse: (text: string, warn: Warn) => Result<T>;
};

/** The values of annotations, by the names that their feature has for them; undefined: the built-in default applies. */
export type ValuesOf<Annotations> = {
  readonly [Name in keyof Annotations]:
    (Annotations[Name] extends AnnotationDefinition<infer T> ? T : never) | undefined;
};

/** A feature: the value that travels in the snapshot, and the annotations that an Ingress sets it with. */
type FeatureDefinition<Slug extends string, Schema extends z.ZodType, Annotations> = {
  readonly slug: Slug;
  readonly schema: Schema;
  readonly annotations: Annotations;
};

/** A feature that follows from the values of its own annotations, so that it needs no translator. */
type ValueFeature<Slug extends string, Schema extends z.ZodType, Annotations> = FeatureDefinition<
  Slug,
  Schema,
  Annotations
> & {
  /**
   * The value of the feature; undefined: it is off. `values` are the Ingress's own, else those of its class; `ofClass`
   * gives those of the class alone, for a feature whose annotations count together or not at all. Pure. A method, so
   * that features of different annotations are of one type.
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
  /** The modules that implement them instead of a filter; each names the page of the slug. */
  readonly handledIn: readonly string[];
};

export const defineAnnotation = <T>(definition: AnnotationDefinition<T>): AnnotationDefinition<T> =>
  definition;

/** The annotations of a feature or option, by the names that its code has for them. */
export type AnnotationRecord = { readonly [name: string]: AnnotationDefinition<unknown> };

/** A feature that follows from its annotations, whichever those are. */
export type AnyValueFeature = ValueFeature<string, z.ZodType, AnnotationRecord>;

/** Declares a feature that follows from its annotations: the operator needs nothing else to know it. */
export const defineFeature = <
  const Slug extends string,
  Schema extends z.ZodType,
  Annotations extends AnnotationRecord,
>(
  definition: ValueFeature<Slug, Schema, Annotations>,
): ValueFeature<Slug, Schema, Annotations> => definition;

/** Declares a feature whose annotations refer to other objects: it has a translator in the operator. */
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

/** The keys of declared names, cached, since building a key on each lookup is slow. */
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

/** Declares an annotation that authenticates clients. It fails closed: an unparsable value is treated as a reference to a
 * missing resource, and every request gets 503.
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
