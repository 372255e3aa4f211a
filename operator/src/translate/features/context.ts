import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import type { Lookup } from "../../world.ts";
import type { Place } from "../diagnostics.ts";
import type { Diagnostic } from "../translation.ts";

/** What the translation of a feature can ask and say besides reading annotations. */
export type FeatureContext = {
  /** Finds other objects, and has the features worked out again when they change. */
  readonly lookup: Lookup;
  /** The port at which clients reach the HTTPS listener of Ingresses. */
  readonly httpsPublicPort: number;
  /** Takes a finding about an annotation of the Ingress, or about what it leads to. */
  readonly report: (
    definition: Pick<AnnotationDefinition<unknown>, "name">,
    finding: (place: Place) => Diagnostic,
  ) => void;
  /** Warns of an annotation that is used as it stands, in a finding and in an Event. */
  readonly warn: (definition: Pick<AnnotationDefinition<unknown>, "name">, message: string) => void;
  /** Whether the Ingress itself has an annotation, by its name without prefix. */
  readonly hasAnnotation: (name: string) => boolean;
};
