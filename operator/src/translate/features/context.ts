import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { EndpointRef } from "../backends/service-port.ts";
import type { KeySetRef } from "../credentials/remote-key-sets.ts";
import type { Place } from "../diagnostics/define-finding.ts";
import type { Diagnostic } from "../finding.ts";
import type { View } from "../incremental/view.ts";
import type { Referrer } from "../reference-grants.ts";

/**
 * What the translation of a feature can ask and say besides reading annotations. When the world gives another answer
 * to what was asked of the view, the features are worked out again.
 */
export type FeatureContext = View & {
  /** Whose reference an annotation is: the Ingress's. */
  readonly referrer: Referrer;
  /** The port at which clients reach the HTTPS listener of Ingresses. */
  readonly httpsPublicPort: number;
  /** Takes a finding about an annotation of the Ingress, or about what it leads to. */
  readonly report: (
    definition: Pick<AnnotationDefinition<unknown>, "name">,
    finding: (place: Place) => Diagnostic,
  ) => void;
  /** The same for what the author of the Ingress must hear of: in a finding and in an Event. */
  readonly announce: FeatureContext["report"];
  /** Tells of a reference that is not followed, in a finding and in an Event. */
  readonly refuse: (definition: Pick<AnnotationDefinition<unknown>, "name">, message: string) => void;
  /** Warns of an annotation that is used as it stands, in a finding and in an Event. */
  readonly warn: (definition: Pick<AnnotationDefinition<unknown>, "name">, message: string) => void;
  /**
   * Warns of what is harmless where clients are authenticated. For a route of a Gateway that is known when its listeners
   * are, since they and the Gateway can authenticate as well.
   */
  readonly warnUnlessAuthenticated: FeatureContext["warn"];
  /**
   * The namespaces whose objects the annotation may name without a grant: that of the Ingress and, where the value is
   * a default of the class, that of the class's parameters.
   */
  readonly freeNamespaces: (definition: Pick<AnnotationDefinition<unknown>, "name">) => readonly string[];
  /** Takes a Service port whose endpoints the feature names. */
  readonly useEndpoints: (ref: EndpointRef) => void;
  /** Takes a resource that the feature names and that must travel with the routes. */
  readonly provide: (resource: Resource) => void;
  /** Takes a key set that the feature names and that comes from elsewhere. */
  readonly fetch: (ref: KeySetRef) => void;
  /** Whether the Ingress itself has an annotation, by its name without prefix. */
  readonly hasAnnotation: (name: string) => boolean;
  /** What the filters of a rule do besides; absent: an Ingress asks, which has none. */
  readonly filters?: { readonly authenticate: boolean };
};
