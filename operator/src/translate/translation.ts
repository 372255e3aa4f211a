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
  /** The ServiceAccount of the proxies, in the Gateway's namespace. */
  readonly serviceAccount: string;
  readonly resources: readonly Resource[];
  readonly routing: Routing;
};

export type Translation = {
  /**
   * The resources of each scope: `shared` for the shared proxies (or the standalone proxy), `dedicated` for
   * each Gateway with dedicated proxies.
   */
  readonly scopes: { readonly shared: readonly Resource[]; readonly dedicated: readonly DedicatedScope[] };
  /** The translated World. Objects that invalid policies close are marked, as in the lists below. */
  readonly world: World;
  /** The routing of the shared scope. */
  readonly routing: Routing;
  readonly conflicts: readonly Conflict[];
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  /**
   * The size of the objects of each namespace, by scope (`shared`, or the Gateway's `namespace/name`), before
   * anything is left out.
   */
  readonly sizes: ReadonlyMap<string, readonly NamespaceSize[]>;
  /** The size, by scope, of those certificates in the resources of ports that `sizes` counts for their Gateways. */
  readonly certificateBytes: ReadonlyMap<string, number>;
  /** The ports of the gateway itself, and the Services that lead to them. Proxies must not connect to these. */
  readonly ownPorts: OwnPorts;
  /** The key sets to fetch for later translations: URL to the time between fetches, in milliseconds. */
  readonly wantedKeySets: ReadonlyMap<string, number>;
  /** The Ingresses that this controller serves. */
  readonly ingresses: readonly ObjectOf<"Ingress">[];
  /** Served Ingresses whose status is written. That of an adopted class can be left to another controller. */
  readonly statusIngresses: readonly ObjectOf<"Ingress">[];
  /** Whether any server name needs the fallback certificate, which the leader then creates. */
  readonly needsFallbackCertificate: boolean;
  /** The outcomes of the annotations of each Ingress in the ingress-nginx dialect. */
  readonly nginxReports: readonly NginxReport[];
  /** The desired statuses of the Gateway API objects of this controller. */
  readonly gatewayStatuses: GatewayStatuses;
  /** The Services that provide Gateways of the shared proxies with addresses, if Gateways have such Services. */
  readonly vips: readonly Vip[];
  /** The Gateways that have dedicated proxies, or should have them. */
  readonly dedicated: readonly DedicatedGateway[];
  /** The ServiceAccounts that carry the labels of Gateways of the shared proxies in their namespaces. */
  readonly identities: readonly Manifest[];
  readonly backendPolicies: readonly PolicyAttachment<"SvcBackendPolicy">[];
  /** The policies that are attached to Gateways. */
  readonly gatewayPolicies: readonly PolicyAttachment<"SvcExternalAuth" | "ClientTrafficPolicy">[];
  readonly backendTlsPolicies: readonly BackendTlsAttachment[];
  /** The statuses of policies that other objects name, sorted by kind, namespace and name. */
  readonly policyStatuses: readonly PolicyStatus[];
};
