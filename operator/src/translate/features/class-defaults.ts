import {
  annotationKey,
  annotationPrefix,
  type AnnotationDefinition,
} from "@svc-gateway/common/features/definition.ts";
import { annotations } from "@svc-gateway/common/features/registry.ts";
import { problem } from "@svc-gateway/common/values/result.ts";
import { refOf } from "../../api/object.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import {
  annotationWarning,
  describeProblem,
  invalidClassDefault,
  keyField,
  protectionUnavailable,
  unknownAnnotation,
} from "../diagnostics.ts";
import { memo } from "../memo.ts";
import type { Diagnostic } from "../translation.ts";
import { parseAnnotation, type ClassDefaults } from "./annotation-reader.ts";

/** The defaults that a SvcIngressClassParameters object holds, parsed once for all Ingresses of the class. */
export const readClassDefaults = memo(
  (
    parameters: ObjectOf<"SvcIngressClassParameters">,
  ): { readonly defaults: ClassDefaults; readonly diagnostics: readonly Diagnostic[] } => {
    const diagnostics: Diagnostic[] = [];
    const values = new Map<AnnotationDefinition<unknown>, unknown>();
    for (const [key, raw] of Object.entries(parameters.spec.defaultAnnotations ?? {})) {
      const place = { object: refOf(parameters), field: keyField("spec.defaultAnnotations", key) };
      const definition = annotations.get(key);
      if (definition === undefined) {
        const prefixed = `${annotationPrefix}${key}`;
        diagnostics.push(unknownAnnotation(place, key, annotations.has(prefixed) ? prefixed : undefined));
        continue;
      }
      if (definition.emptyIsAbsent === true && raw.trim() === "") continue;
      const parsed = definition.classDefault
        ? parseAnnotation(definition, raw, (message) => diagnostics.push(annotationWarning(place, message)))
        : problem("is read from the Ingress only");
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
      // A value was parsed by the definition that it is filed under.
      get: <T>(definition: AnnotationDefinition<T>) => values.get(definition) as T | undefined,
    };
    return { defaults, diagnostics };
  },
);

/** The keys under our prefix that name no annotation of this gateway, such as misspelt ones. */
export const unknownKeys = (keys: Iterable<string>): readonly string[] =>
  [...keys].filter((key) => key.startsWith(annotationPrefix) && !annotations.has(key));
