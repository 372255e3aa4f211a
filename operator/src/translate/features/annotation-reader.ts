import {
  annotationKey,
  type AnnotationDefinition,
  type Warn,
} from "@svc-gateway/common/features/definition.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";

/** Reads the annotations of one Ingress. */
export type AnnotationReader = {
  /** The value of an annotation; undefined if the built-in default applies. */
  <T>(definition: AnnotationDefinition<T>): T | undefined;
  /** The class default, even if the Ingress sets a value of its own. */
  readonly inherited: <T>(definition: AnnotationDefinition<T>) => T | undefined;
};

/** The consequence of an invalid value if the class has a default, for messages. */
export const classDefaultApplies = "the default of the class applies";

/** The defaults of an IngressClass, already parsed. */
export type ClassDefaults = {
  /** The namespace of the object with the defaults. */
  readonly namespace: string;
  /** The annotations that have a default, by their full keys. */
  readonly keys: readonly string[];
  readonly get: <T>(definition: AnnotationDefinition<T>) => T | undefined;
};

/**
 * The maximum length of an annotation value; longer ones are not read. Kubernetes allows 256 KiB for all of an
 * object.
 */
const maxValueLength = 65_536;

/** Parses one annotation value by the rules that apply to all annotations. */
export function parseAnnotation<T>(definition: AnnotationDefinition<T>, raw: string, warn: Warn): Result<T> {
  if (raw.length > maxValueLength) return problem(`has more than ${maxValueLength} characters`);
  const text = raw.trim();
  if (text === "") return problem("is empty");
  return definition.parse(text, warn);
}

type Annotations = { readonly [key: string]: string };

/** Whether the value of an annotation is set on the Ingress itself, not a default. An empty value sets nothing. */
export function hasOwnValue(annotations: Annotations, definition: { readonly name: string }): boolean {
  const key = annotationKey(definition);
  return Object.hasOwn(annotations, key) && annotations[key]?.trim() !== "";
}

/**
 * Reads annotations by precedence: the value of the Ingress, then the default of its class, then the built-in one.
 * A value that does not parse is reported and counts as absent, so that a mistake does not remove a default of the
 * class, which might restrict access. A reference to a protection that does not parse instead counts as a reference
 * to an object that does not exist. An empty value is also reported, unless the annotation treats it as absent, and
 * sets nothing; without a class default, an empty reference to a protection counts as one that does not parse. Each
 * annotation is parsed and reported once, however many features read it. See docs/reference/annotations.md.
 */
export function createAnnotationReader(options: {
  readonly annotations: Annotations;
  readonly classDefaults: ClassDefaults | undefined;
  /** Receives `<annotation>: <message>`: what is wrong with the value, and what happens instead. */
  readonly onInvalid: (key: string, message: string) => void;
  /** Receives `<annotation>: <message>`: the part of a value that is ignored while the rest is used. */
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
    // Nearly all annotations are absent on nearly all Ingresses, so they get no entry.
    if (raw === undefined) return classDefaults?.get(definition);
    if (!known.has(definition)) known.set(definition, readOnce(definition, key, raw));
    // The value was parsed by the definition that is its key.
    return known.get(definition) as T | undefined;
  };
  return Object.assign(read, {
    inherited: <T>(definition: AnnotationDefinition<T>) => classDefaults?.get(definition),
  });
}
