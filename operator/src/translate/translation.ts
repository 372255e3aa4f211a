import type { OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../api/kinds.ts";
import type { World } from "../world.ts";
import type { Diagnostic, DesiredEvent, Conflict } from "./finding.ts";
import type { NginxReport } from "./ingress-nginx/report.ts";
import type { DedicatedGateway } from "./gateway/dedicated/gateway.ts";
import type { Manifest } from "./gateway/dedicated/plan.ts";
import type { Vip } from "./gateway/scopes/vip-plan.ts";
import type { GatewayStatuses } from "./gateway/status/statuses.ts";
import type { PolicyAttachment, BackendTlsAttachment } from "./policy-ancestors.ts";
import type { PolicyStatus } from "./policy-status/translator.ts";
import type { Routing } from "./routing.ts";
import type { NamespaceSize } from "./size/ledger.ts";

/** The scope of one Gateway with dedicated proxies. */
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
  /** The world that it was made from, with the objects that invalid policies close as they appear in the lists below. */
  readonly world: World;
  /** The routing of the shared scope. */
  readonly routing: Routing;
  readonly conflicts: readonly Conflict[];
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  /**
   * The size of the objects of each namespace, by scope (`shared`, or the Gateway's `namespace/name`): all, before
   * something is left out.
   */
  readonly sizes: ReadonlyMap<string, readonly NamespaceSize[]>;
  /** How much of the resources of ports, by scope, are certificates that `sizes` counts for their Gateways. */
  readonly certificateBytes: ReadonlyMap<string, number>;
  /** The ports of the gateway itself, and the Services that lead to them: what proxies must not connect to. */
  readonly ownPorts: OwnPorts;
  /** Key sets to be fetched for the next translations: URL to the time between fetches, in milliseconds. */
  readonly wantedKeySets: ReadonlyMap<string, number>;
  /** The Ingresses that are ours to serve. */
  readonly ingresses: readonly ObjectOf<"Ingress">[];
  /** Those of them whose status is written: in an adopted class, another controller may write it. */
  readonly statusIngresses: readonly ObjectOf<"Ingress">[];
  /** Whether some server name is to be shown the fallback certificate, which the leader then makes. */
  readonly needsFallbackCertificate: boolean;
  /** What becomes of the annotations of each Ingress that is read as ingress-nginx reads it. */
  readonly nginxReports: readonly NginxReport[];
  /** The desired statuses of the Gateway API objects of this controller. */
  readonly gatewayStatuses: GatewayStatuses;
  /** The Services that lead to the Gateways of the shared proxies, where Gateways have one. */
  readonly vips: readonly Vip[];
  /** The Gateways that have proxies of their own, or should have. */
  readonly dedicated: readonly DedicatedGateway[];
  /** Gateways of the shared proxies: each has a ServiceAccount in its namespace that carries its labels. */
  readonly identities: readonly Manifest[];
  readonly backendPolicies: readonly PolicyAttachment<"SvcBackendPolicy">[];
  /** The policies that are attached to Gateways. */
  readonly gatewayPolicies: readonly PolicyAttachment<"SvcExternalAuth" | "ClientTrafficPolicy">[];
  readonly backendTlsPolicies: readonly BackendTlsAttachment[];
  /** The policies that other objects name, by kind, namespace and name. */
  readonly policyStatuses: readonly PolicyStatus[];
};
