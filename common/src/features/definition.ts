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
  | "size"
  | "string";

/**
 * Takes what is left out of a value, for the person who wrote it: a sentence without its full stop. With `event` it is
 * worth an Event on the Ingress as well.
 */
export type Warn = (message: string, notice?: "event") => void;

/** One Ingress annotation. `T` is what its value means. */
export type AnnotationDefinition<T> = {
  /** The key without the prefix. */
  readonly name: string;
  readonly type: AnnotationType;
  /**
   * What the admission policy of the chart demands of the trimmed value; absent where any text may be one and only the
   * controller can tell.
   */
  readonly form?: Form;
  /** What applies when it is not set, for the reference page. */
  readonly builtIn: string;
  /** What an object of the Gateway API says the same with, for the reference page. */
  readonly gatewayApi: string;
  /** The kind of the resource that the value names. */
  readonly resource?: string;
  /** What besides a value that does not parse is reported in an `InvalidAnnotation` Event. */
  readonly alsoInEvents?: string;
  /** Whether a SvcIngressClassParameters object may hold a default for it. */
  readonly classDefault: boolean;
  /** Whether an empty value is a way to say nothing, and not a mistake. */
  readonly emptyIsAbsent?: true;
  /**
   * Whether what the value names in another namespace needs a ReferenceGrant there, because it protects something or
   * holds secrets; absent: everybody may use it (docs/cross-namespace-references.md).
   */
  readonly needsGrant?: true;
  /**
   * What a value that does not parse means. `ignore`: it counts as absent. `deny`: it counts as a reference to a
   * missing resource, so that a protection that was asked for is never silently absent.
   */
  readonly onInvalid: "ignore" | "deny";
  /** What the Ingress's own value means when it does not parse, where that is not what an absent one means. */
  readonly ifInvalid?: T;
  /** Whether it keeps clients or requests out: where it cannot be followed, more are let in than was meant. */
  readonly restricts?: true;
  /** The consequence of a value that does not parse, for the person who wrote it; ends the Event's message. */
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

/** What annotations say, by the names that their feature has for them; undefined: the built-in default applies. */
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

/** Annotations that decide about something that no route carries, so that no filter acts on them. */
type Option<Slug extends string, Annotations> = {
  readonly slug: Slug;
  readonly annotations: Annotations;
  /** The modules that act on them instead of a filter; each names the page of the slug. */
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

/** Declares a feature whose annotations need the world to be understood: it has a translator in the operator. */
export const defineTranslatedFeature = <
  const Slug extends string,
  Schema extends z.ZodType,
  Annotations extends AnnotationRecord,
>(
  definition: FeatureDefinition<Slug, Schema, Annotations>,
): FeatureDefinition<Slug, Schema, Annotations> => definition;

/** Declares annotations that decide how requests find their routes, or about handshakes, which are over before. */
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

/** Of the names that features declare. A key that is put together again and again is looked up as slowly as it is made. */
const annotationKeys = new Map<string, string>();

/** What every annotation that names a resource has in common, and what each says of itself. */
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
