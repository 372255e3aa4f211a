/** The context in which filters of a route or listener are read, and the findings that reading them produces. */
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { EndpointRef } from "../../backends/service-port.ts";
import type { KeySetRef } from "../../credentials/remote-key-sets.ts";
import type { Place } from "../../diagnostics/define-finding.ts";
import { referenceNotPermitted, resourcePartlyIgnored } from "../../diagnostics/references.ts";
import { RegexBudget } from "../../regex-budget.ts";
import type { FeatureContext } from "../../features/context.ts";
import type { Diagnostic } from "../../finding.ts";
import type { View } from "../../incremental/view.ts";
import type { HttpRouteKind, ListenerOwner } from "../kinds.ts";

/** The references and findings of the filters of an object, apart from the backends of a route. */
export type FilterFindings = {
  readonly endpointRefs: EndpointRef[];
  readonly resources: Resource[];
  readonly keySets: KeySetRef[];
  readonly diagnostics: Diagnostic[];
  /** The part of the object's regex budget that is not used yet. */
  readonly regexBudget: RegexBudget;
  /** The findings that apply only if neither the listener nor its Gateway authenticates clients. */
  readonly unlessAuthenticated: Diagnostic[];
};

export type FilterContext = {
  readonly view: View;
  readonly allowExternalName: boolean;
  /** The kind of the object that has the filters. */
  readonly kind: HttpRouteKind | ListenerOwner["kind"];
  readonly namespace: string;
  /**
   * The place of the filters. Filters of a backend run after every step that can wait, so extensions belong to
   * rules and listeners.
   */
  readonly level: "listener" | "rule" | "backend";
  /** Whether one of the filters authenticates clients. */
  readonly authenticates?: boolean;
  /** The field that the filters are in. */
  readonly place: Place;
  readonly findings: FilterFindings;
};

export const noFindings = (): FilterFindings => ({
  endpointRefs: [],
  resources: [],
  keySets: [],
  diagnostics: [],
  regexBudget: new RegexBudget(),
  unlessAuthenticated: [],
});

/**
 * The context of a feature that a resource of the same namespace configures. Faults that are Events for
 * annotations of an Ingress are findings here.
 */
export function featureContext(context: FilterContext): FeatureContext {
  const { view, kind, namespace, authenticates = false, place, findings } = context;
  const find = (finding: (place: Place) => Diagnostic): void => {
    findings.diagnostics.push(finding(place));
  };
  return {
    ...view,
    referrer: { kind, namespace },
    // Used only by the redirects of Ingresses.
    httpsPublicPort: 443,
    report: (_, finding) => find(finding),
    reportWithEvent: (_, finding) => find(finding),
    refuse: (_, message) => find((at) => referenceNotPermitted(at, message)),
    warn: (_, message) => find((at) => resourcePartlyIgnored(at, message)),
    warnUnlessAuthenticated: (_, message) => {
      findings.unlessAuthenticated.push(resourcePartlyIgnored(place, message));
    },
    freeNamespaces: () => [namespace],
    useEndpoints: (ref) => findings.endpointRefs.push(ref),
    provide: (resource) => findings.resources.push(resource),
    fetch: (ref) => findings.keySets.push(ref),
    hasAnnotation: () => false,
    filters: { authenticate: authenticates },
  };
}
