/** Derives Events from findings, for the owners of objects, who cannot read the log. See docs/reference/events.md. */
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { formatRef, type ObjectRef } from "../api/object.ts";
import type { DesiredEvent, Diagnostic } from "./finding.ts";
import { memo } from "./incremental/memo.ts";
import { isRest } from "./ingress/claims.ts";
import type { ServedHost } from "./routing.ts";

type Reason = DesiredEvent["reason"];

/**
 * The Event reasons of findings about Ingresses. Findings whose Events are created together with them are not
 * listed: conflicts of routes, size limits, and findings about annotations (although references without a grant
 * can also be `ReferenceNotPermitted` here).
 */
const ofIngresses: { readonly [finding: Diagnostic["reason"]]: Reason } = {
  CatchAllRefused: "NotServed",
  CertificateConflict: "HostTaken",
  CertificateHostMismatch: "CertificateNotUsable",
  DuplicatePath: "NotServed",
  ExternalNameNotAllowed: "BackendNotFound",
  HostOfGateway: "HostTaken",
  InternalError: "NotServed",
  InvalidBackend: "BackendNotFound",
  InvalidCertificate: "CertificateNotUsable",
  InvalidHost: "NotServed",
  InvalidPath: "NotServed",
  LastCertificateKept: "CertificateNotUsable",
  MirrorDisabled: "MirrorDisabled",
  NoEffect: "InvalidAnnotation",
  NoVerifyName: "NotServed",
  PathLevelConflict: "HostTaken",
  ReferenceNotPermitted: "ReferenceNotPermitted",
  RegexShadowed: "NotServed",
  ResourceBackendIgnored: "NotServed",
  SecretNotFound: "CertificateNotUsable",
  ServiceNotFound: "BackendNotFound",
  ServicePortNotFound: "BackendNotFound",
  UnknownNginxAnnotation: "InvalidAnnotation",
  UnsupportedProtocol: "NotServed",
};

/** Findings of which only errors become Events. */
const errorsOfIngresses: { readonly [finding: Diagnostic["reason"]]: Reason } = {
  CiphersFixed: "InvalidAnnotation",
  NoEffect: "InvalidAnnotation",
  SnippetIgnored: "InvalidAnnotation",
  UnknownNginxAnnotation: "InvalidAnnotation",
  DigestUnsupported: "NotServed",
  RevocationUnsupported: "NotServed",
  SharedAuthCache: "NotServed",
  UnservableExpression: "NotServed",
};

/** The Event reasons for Gateways and ListenerSets, which have conditions for everything else. */
const ofGateways: { readonly [finding: Diagnostic["reason"]]: Reason } = {
  InvalidCertificateRef: "CertificateNotUsable",
  InvalidClientCertificateRef: "CertificateNotUsable",
};

const ofClasses: { readonly [finding: Diagnostic["reason"]]: Reason } = {
  ForeignController: "ForeignController",
  InternalError: "ParametersNotUsable",
  InvalidClassParameters: "ParametersNotUsable",
  ProtectionUnavailable: "ParametersNotUsable",
};

const byKind: { readonly [kind: string]: { readonly [finding: Diagnostic["reason"]]: Reason } } = {
  Gateway: ofGateways,
  Ingress: ofIngresses,
  IngressClass: ofClasses,
  ListenerSet: ofGateways,
};

/** The Event of a finding, which is the same value each time; undefined if the finding has none. */
const eventOf = memo(({ object, severity, reason, message }: Diagnostic): DesiredEvent | undefined => {
  const ofErrors = object.kind === "Ingress" && severity === "error" ? errorsOfIngresses[reason] : undefined;
  const ofAll = reason === "TargetClosed" ? "NotServed" : undefined;
  const found = byKind[object.kind]?.[reason] ?? ofErrors ?? ofAll;
  return found && { object, type: "Warning", reason: found, message };
});

export const findingEvents = memo((diagnostics: readonly Diagnostic[]): readonly DesiredEvent[] =>
  diagnostics.flatMap((diagnostic) => eventOf(diagnostic) ?? []),
);

type EndpointSets = SortedEntries<{ readonly set: EndpointSet }, string>;

/** The Events of Ingresses that send requests to Service ports without any endpoint. */
export function createEndpointEvents(): (
  hosts: readonly ServedHost[],
  sets: EndpointSets,
) => readonly DesiredEvent[] {
  const withoutAny = memo(({ keys, values }: EndpointSets) => {
    const names = keys.filter((_, index) => values[index]?.set.addresses.length === 0);
    return new Set<string>(names);
  });
  let last: { readonly inputs: readonly object[]; readonly events: readonly DesiredEvent[] } | undefined;
  return (hosts, sets) => {
    const empty = withoutAny(sets);
    if (empty.size === 0) return [];
    if (last?.inputs[0] !== hosts || last.inputs[1] !== sets) {
      last = { inputs: [hosts, sets], events: eventsOf(hosts, empty) };
    }
    return last.events;
  };
}

function eventsOf(hosts: readonly ServedHost[], empty: ReadonlySet<string>): readonly DesiredEvent[] {
  const events = new Map<string, DesiredEvent>();
  for (const { group, value } of hosts) {
    if (group !== "ingress") continue;
    for (const route of value.routes) {
      const { source, backends } = route;
      // The default backend of the whole gateway does not belong to the Ingress.
      if (isRest(route)) continue;
      for (const { endpoints } of backends) {
        if (endpoints === undefined || !empty.has(endpoints) || source.kind !== "Ingress") continue;
        const key = `${formatRef(source)} ${endpoints}`;
        if (!events.has(key)) events.set(key, withoutEndpoint(source, endpoints));
      }
    }
  }
  return [...events.values()];
}

/** `endpoints` is `namespace/service/port`, with a suffix for a variant. */
function withoutEndpoint({ kind, namespace = "", name }: ObjectRef, endpoints: string): DesiredEvent {
  const [owner, service, port] = endpoints.split("/");
  return {
    object: { kind, namespace, name },
    type: "Warning",
    reason: "BackendNotFound",
    message: `Port ${port} of Service ${owner}/${service} has no usable endpoint; requests to it are answered 503`,
  };
}
