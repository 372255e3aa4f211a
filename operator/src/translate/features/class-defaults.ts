import {
  annotationKey,
  annotationPrefix,
  type AnnotationDefinition,
} from "@svc-gateway/common/features/definition.ts";
import { annotations } from "@svc-gateway/common/features/registry.ts";
import { replacementOf } from "@svc-gateway/common/features/removed-annotations.ts";
import { problem } from "@svc-gateway/common/values/result.ts";
import { mostSimilar } from "@svc-gateway/common/values/similar.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import {
  annotationWarning,
  misspeltAnnotation,
  removedAnnotation,
  unknownAnnotation,
} from "../diagnostics/annotations.ts";
import { invalidClassDefault } from "../diagnostics/classes.ts";
import { describeProblem, keyField, type Place } from "../diagnostics/define-finding.ts";
import { protectionUnavailable } from "../diagnostics/references.ts";
import type { Diagnostic } from "../finding.ts";
import { memo } from "../incremental/memo.ts";
import { parseAnnotation, type ClassDefaults } from "./annotation-reader.ts";

/** Reads the defaults of a SvcIngressClassParameters object, once for all Ingresses of the class. */
export const readClassDefaults = memo(
  (
    parameters: ObjectOf<"SvcIngressClassParameters">,
  ): {
    readonly defaults: ClassDefaults;
    readonly diagnostics: readonly Diagnostic[];
    /** The findings about keys that are not annotations of this gateway, with the keys. */
    readonly unknown: ReadonlyMap<Diagnostic, string>;
  } => {
    const diagnostics: Diagnostic[] = [];
    const unknown = new Map<Diagnostic, string>();
    const values = new Map<AnnotationDefinition<unknown>, unknown>();
    for (const [key, raw] of Object.entries(parameters.spec.defaultAnnotations ?? {})) {
      const place = { object: refOf(parameters), field: keyField("spec.defaultAnnotations", key) };
      const definition = annotations.get(key);
      if (definition === undefined) {
        const finding = describeUnknownKey(place, key);
        unknown.set(finding, key);
        diagnostics.push(finding);
        continue;
      }
      if (definition.emptyIsAbsent === true && raw.trim() === "") continue;
      const parsed = definition.classDefault
        ? parseAnnotation(definition, raw, (message) => diagnostics.push(annotationWarning(place, message)))
        : problem("can only be set on an Ingress");
      if (parsed.ok) values.set(definition, parsed.value);
      else if (definition.onInvalid === "ignore" || !definition.classDefault)
        diagnostics.push(invalidClassDefault(place, parsed.error));
      else {
        values.set(definition, definition.ifInvalid);
        diagnostics.push(protectionUnavailable(place, describeProblem(parsed.error), definition.fallback));
      }
    }
    const defaults: ClassDefaults = {
      namespace: parameters.metadata.namespace,
      keys: Array.from(values.keys(), annotationKey),
      // The value was parsed by the definition that is its key.
      get: <T>(definition: AnnotationDefinition<T>) => values.get(definition) as T | undefined,
    };
    return { defaults, diagnostics, unknown };
  },
);

/** The keys that are not annotations of this gateway, but have its prefix or one that is similar to it. */
export const unknownKeys = (keys: Iterable<string>): readonly string[] =>
  [...keys].filter((key) => !annotations.has(key) && isOwnPrefix(key));

const isOwnPrefix = (key: string): boolean => {
  if (key.startsWith(annotationPrefix)) return true;
  const prefix = key.slice(0, key.indexOf("/") + 1);
  if (mostSimilar(prefix, [annotationPrefix]) === undefined) return false;
  return annotations.has(`${annotationPrefix}${key.slice(prefix.length)}`);
};

/** The finding about an unknown key, which was removed, lacks the prefix, or is misspelt. */
export function describeUnknownKey(place: Place, key: string): Diagnostic {
  const replacement = replacementOf(key);
  if (replacement !== undefined) return removedAnnotation(place, key, replacement);
  const name = key.slice(key.indexOf("/") + 1);
  const meant = mostSimilar(name, annotationNames);
  return meant === undefined
    ? unknownAnnotation(place, key)
    : misspeltAnnotation(place, key, `${annotationPrefix}${meant}`);
}

const annotationNames = [...annotations.keys()].map((key) => key.slice(annotationPrefix.length));
