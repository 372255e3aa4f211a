import {
  annotationKey,
  type AnnotationDefinition,
  type Warn,
} from "@svc-gateway/common/features/definition.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";

/** Reads the annotations of one Ingress. */
export type AnnotationReader = {
  /** The value of an annotation, or undefined where the built-in default applies. */
  <T>(definition: AnnotationDefinition<T>): T | undefined;
  /** The class default, even where the Ingress has a value of its own. */
  readonly inherited: <T>(definition: AnnotationDefinition<T>) => T | undefined;
};

/** The consequence of an invalid value where the class has a default. */
export const classDefaultApplies = "the default of the class applies";

/** The defaults of an IngressClass, already parsed. */
export type ClassDefaults = {
  /** The namespace of the object that holds them. */
  readonly namespace: string;
  /** The annotations that have one, by their full keys. */
  readonly keys: readonly string[];
  readonly get: <T>(definition: AnnotationDefinition<T>) => T | undefined;
};

/** Annotation values are not read beyond this length; Kubernetes allows 256 KiB for all of an object together. */
const maxValueLength = 65_536;

/** Parses one annotation value under the rules that hold for all of them. */
export function parseAnnotation<T>(definition: AnnotationDefinition<T>, raw: string, warn: Warn): Result<T> {
  if (raw.length > maxValueLength) return problem(`has more than ${maxValueLength} characters`);
  const text = raw.trim();
  if (text === "") return problem("is empty");
  return definition.parse(text, warn);
}

type Annotations = { readonly [key: string]: string };

/** Whether the value of an annotation is the Ingress's own rather than a default; an empty one sets nothing. */
export function hasOwnValue(annotations: Annotations, definition: { readonly name: string }): boolean {
  const key = annotationKey(definition);
  return Object.hasOwn(annotations, key) && annotations[key]?.trim() !== "";
}

/**
 * Reads annotations with their precedence: the Ingress's own, then the default of its class, then the built-in one.
 * A value that does not parse is reported and counts as absent, so that a mistake takes no default of the class away, which
 * may be a fence; a reference to a protection then counts as one to something that does not exist instead. An empty value is
 * reported as well, unless the annotation takes it for absent, and sets nothing; without a default, an empty reference to
 * a protection counts as one that does not parse. However many features ask for an annotation, it is parsed and reported
 * once. See docs/reference/annotations.md.
 */
export function createAnnotationReader(options: {
  readonly annotations: Annotations;
  readonly classDefaults: ClassDefaults | undefined;
  /** Takes `<annotation>: <message>`: what is wrong with the value, and what happens instead. */
  readonly onInvalid: (key: string, message: string) => void;
  /** Takes `<annotation>: <message>`: what is left out of a value whose rest is used. */
  readonly onWarning: (key: string, ...warning: Parameters<Warn>) => void;
}): AnnotationReader {
  const { annotations, classDefaults, onInvalid, onWarning } = options;
  const known = new Map<AnnotationDefinition<unknown>, unknown>();
  const readOnce = <T>(definition: AnnotationDefinition<T>, key: string, raw: string): T | undefined => {
    if (raw.trim() === "") {
      const inherited = classDefaults?.get(definition);
      if (definition.emptyIsAbsent === true) return inherited;
      if (definition.onInvalid === "ignore" || inherited !== undefined) {
        onInvalid(
          key,
          `${key}: is empty${inherited === undefined ? " and sets nothing" : `; ${classDefaultApplies}`}`,
        );
        return inherited;
      }
      onInvalid(key, `${key}: is empty; ${definition.fallback}`);
      return definition.ifInvalid;
    }
    const parsed = parseAnnotation(definition, raw, (message, notice) =>
      onWarning(key, `${key}: ${message}`, notice),
    );
    if (parsed.ok) return parsed.value ?? classDefaults?.get(definition);
    const inherited = definition.onInvalid === "ignore" ? classDefaults?.get(definition) : undefined;
    const instead = inherited === undefined ? definition.fallback : classDefaultApplies;
    onInvalid(key, `${key}: ${describeProblem(parsed.error)}; ${instead}`);
    return definition.ifInvalid ?? inherited;
  };
  const read = <T>(definition: AnnotationDefinition<T>): T | undefined => {
    const key = annotationKey(definition);
    const raw = Object.hasOwn(annotations, key) ? annotations[key] : undefined;
    // Nearly all of them, on nearly all Ingresses: not worth an entry.
    if (raw === undefined) return classDefaults?.get(definition);
    if (!known.has(definition)) known.set(definition, readOnce(definition, key, raw));
    // A value was read by the definition that it is filed under.
    return known.get(definition) as T | undefined;
  };
  return Object.assign(read, {
    inherited: <T>(definition: AnnotationDefinition<T>) => classDefaults?.get(definition),
  });
}
