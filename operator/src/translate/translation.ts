/** What a translation gives: the snapshot, and everything worth telling people about the way to it. */
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { HostRoutes } from "@svc-gateway/common/ir/route.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectRef } from "../api/object.ts";
import type { ObjectOf } from "../api/kinds.ts";
import type { DesiredCondition } from "./condition.ts";
import type { GatewayStatuses } from "./gateway/status/statuses.ts";
import type { Manifest } from "./gateway/dedicated/plan.ts";
import type { DedicatedGateway } from "./gateway/dedicated/gateway.ts";
import type { Vip } from "./gateway/scopes/vip-plan.ts";
import type { NamespaceSize } from "./size/ledger.ts";

/**
 * A finding about one object. `error`: a part of it is not served as written. `warning`: it is served, but probably
 * not as meant, or not for long. `info`: worth knowing when one wonders.
 */
export type Diagnostic = {
  readonly object: ObjectRef;
  readonly severity: "error" | "warning" | "info";
  /** Constant name of the finding, such as `ServiceNotFound`. See docs/reference/events.md, "Findings". */
  readonly reason: string;
  /** Path of the field that the finding is about, such as `spec.rules[0].host`. */
  readonly field?: string;
  /** One sentence for the person who wrote the object. Never holds secret material. */
  readonly message: string;
  /** The severity for `check`, where it is another one: the objects are all that there are. */
  readonly amongManifests?: "error";
};

/** A Kubernetes Event that the current state of the world calls for. See docs/reference/events.md. */
export type DesiredEvent = {
  readonly object: ObjectRef;
  readonly type: "Normal" | "Warning";
  readonly reason:
    | "RouteConflict"
    | "InvalidAnnotation"
    | "InternalPortRemapped"
    | "InternalPortRangeExhausted"
    | "PodTemplateSanitized"
    | "NotServed"
    | "BackendNotFound"
    | "CertificateNotUsable"
    | "HostTaken"
    | "MirrorDisabled"
    | "ParametersNotUsable"
    | "ReferenceNotPermitted";
  readonly message: string;
};

/** A route that is not served because an older object claims the same host and path. See docs/routing.md, "Who was first". */
export type Conflict = {
  readonly group: RouteGroup;
  /** The ports on which the host is served. */
  readonly ports: readonly number[];
  readonly host: HostPattern;
  readonly path: PathMatch;
  readonly loser: ObjectRef;
  readonly winner: ObjectRef;
  /** `namespace/name` of the Services that the losing route names, comma-joined; empty when there is none. */
  readonly rejectedServices: string;
};

/** The routes of one host as they are served, the same on each of `ports`. */
export type ServedHost = {
  readonly group: RouteGroup;
  readonly ports: readonly number[];
  readonly host: HostPattern;
  readonly value: HostRoutes;
};

/** The snapshot before encoding, for those who explain, list or count what is served. */
export type Routing = {
  readonly hosts: readonly ServedHost[];
  /** Endpoint sets by the name that backends refer to: `namespace/service/port`. */
  readonly endpoints: SortedEntries<{ readonly set: EndpointSet }, string>;
  /** Certificates by port. */
  readonly tls: ReadonlyMap<number, TlsPort>;
  /** What is asked of clients, by port; ports without any such host are left out. */
  readonly clientCerts: ReadonlyMap<number, ClientCertPort>;
};

/** What became of a policy at one object that it names, or at one listener of it. */
export type PolicyAncestor = {
  readonly target: {
    readonly group: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly sectionName?: string;
  };
  /** `Accepted`, or why it is not. */
  readonly reason: "Accepted" | "Conflicted" | "TargetNotFound" | "Invalid";
  readonly message: string;
};

/** The policies of ours that say in their status what became of them. */
export type PolicyKind = "SvcBackendPolicy" | "SvcExternalAuth" | "ClientTrafficPolicy";

/** A policy and everything that its status says. The same object as before for as long as that stays the same. */
export type PolicyAttachment<K extends PolicyKind = PolicyKind> = {
  readonly object: ObjectOf<K>;
  readonly ancestors: readonly PolicyAncestor[];
};

/** A BackendTLSPolicy and what its status says at each Gateway; the same object for as long as that stays the same. */
export type BackendTlsAttachment = {
  readonly object: ObjectOf<"BackendTLSPolicy">;
  readonly ancestors: readonly {
    readonly gateway: { readonly namespace: string; readonly name: string };
    readonly conditions: readonly DesiredCondition[];
  }[];
};

/** What the proxies of one Gateway serve. */
export type DedicatedScope = {
  readonly gateway: NamespacedName;
  /** The account of the proxies, in the Gateway's namespace. */
  readonly serviceAccount: string;
  readonly resources: readonly Resource[];
  readonly routing: Routing;
};

export type Translation = {
  /**
   * The resources of each scope; `shared` is what the shared proxies (or the standalone proxy) serve, `dedicated` what
   * Gateways with proxies of their own have there.
   */
  readonly scopes: { readonly shared: readonly Resource[]; readonly dedicated: readonly DedicatedScope[] };
  /** What the shared scope serves. */
  readonly routing: Routing;
  readonly conflicts: readonly Conflict[];
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  /** What the objects of each namespace take, by scope (`shared`, or the Gateway's `namespace/name`): all, before something is left out. */
  readonly sizes: ReadonlyMap<string, readonly NamespaceSize[]>;
  /** The ports of the gateway itself, and the Services that lead to them: what proxies must not connect to. */
  readonly ownPorts: OwnPorts;
  /** Key sets to be fetched for the next translations: URL to the time between fetches, in milliseconds. */
  readonly wantedKeySets: ReadonlyMap<string, number>;
  /** The Ingresses that are ours to serve. */
  readonly ingresses: readonly ObjectOf<"Ingress">[];
  /** What the statuses of Gateway API objects of ours should say. */
  readonly gatewayStatuses: GatewayStatuses;
  /** The Services that lead to the Gateways of the shared proxies, where Gateways have one. */
  readonly vips: readonly Vip[];
  /** The Gateways that have proxies of their own, or should have. */
  readonly dedicated: readonly DedicatedGateway[];
  /** Gateways of the shared proxies: each has a ServiceAccount in its namespace that carries its labels. */
  readonly identities: readonly Manifest[];
  readonly backendPolicies: readonly PolicyAttachment<"SvcBackendPolicy">[];
  /** What is attached to Gateways. */
  readonly gatewayPolicies: readonly PolicyAttachment<"SvcExternalAuth" | "ClientTrafficPolicy">[];
  readonly backendTlsPolicies: readonly BackendTlsAttachment[];
};
