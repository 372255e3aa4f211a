import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { EndpointRef } from "../backends/service-port.ts";
import type { KeySetRef } from "../credentials/remote-key-sets.ts";
import type { Place } from "../diagnostics/define-finding.ts";
import type { Diagnostic } from "../finding.ts";
import type { View } from "../incremental/view.ts";
import type { Referrer } from "../reference-grants.ts";

/**
 * The means of a feature's translation to look up objects, report, and provide resources, besides reading
 * annotations. When a lookup has another result in a later World, the features are translated again.
 */
export type FeatureContext = View & {
  /** The object that has the annotation, and so is the source of its reference: the Ingress. */
  readonly referrer: Referrer;
  /** The port at which clients reach the HTTPS listener of Ingresses. */
  readonly httpsPublicPort: number;
  /** Reports a finding about an annotation of the Ingress, or about what it refers to. */
  readonly report: (
    definition: Pick<AnnotationDefinition<unknown>, "name">,
    finding: (place: Place) => Diagnostic,
  ) => void;
  /** Reports a finding that the author of the Ingress must see, as an Event as well. */
  readonly reportWithEvent: FeatureContext["report"];
  /** Reports a reference that is not permitted, in a finding and in an Event. */
  readonly refuse: (definition: Pick<AnnotationDefinition<unknown>, "name">, message: string) => void;
  /** Warns of an annotation that is used as written, in a finding and in an Event. */
  readonly warn: (definition: Pick<AnnotationDefinition<unknown>, "name">, message: string) => void;
  /**
   * Warns of a setting that is harmless if clients are authenticated. For a route of a Gateway, this is known
   * only together with its listeners, because they and the Gateway can authenticate clients as well.
   */
  readonly warnUnlessAuthenticated: FeatureContext["warn"];
  /**
   * The namespaces whose objects the annotation may name without a grant: that of the Ingress and, if the value
   * is a default of the class, that of the class's parameters.
   */
  readonly freeNamespaces: (definition: Pick<AnnotationDefinition<unknown>, "name">) => readonly string[];
  /** Adds a Service port whose endpoints the feature uses. */
  readonly useEndpoints: (ref: EndpointRef) => void;
  /** Adds a resource that the feature refers to and that is sent along with the routes. */
  readonly provide: (resource: Resource) => void;
  /** Adds a key set that the feature refers to and that is fetched from a URL. */
  readonly fetch: (ref: KeySetRef) => void;
  /** Whether the Ingress itself has an annotation, by its name without prefix. */
  readonly hasAnnotation: (name: string) => boolean;
  /** The effect of other filters of the rule; absent for an Ingress, which has none. */
  readonly filters?: { readonly authenticate: boolean };
};
