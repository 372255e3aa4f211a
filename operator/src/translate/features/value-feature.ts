import type {
  AnnotationDefinition,
  AnnotationRecord,
  AnyValueFeature,
  ValuesOf,
} from "@svc-gateway/common/features/definition.ts";
import type { AnnotationReader } from "./annotation-reader.ts";

/** The data of a feature whose declaration derives it from its annotations; undefined if it is off. */
export const readValueFeature = (feature: AnyValueFeature, read: AnnotationReader): unknown =>
  feature.fromAnnotations(readAll(feature.annotations, read), () =>
    readAll(feature.annotations, read.inherited),
  );

/** Reads all annotations in any case, because faults are reported when they are read. */
const readAll = (
  annotations: AnnotationRecord,
  read: <T>(definition: AnnotationDefinition<T>) => T | undefined,
): ValuesOf<AnnotationRecord> =>
  Object.fromEntries(Object.entries(annotations).map(([name, definition]) => [name, read(definition)]));
