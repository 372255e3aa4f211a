import type { KindName } from "../api/kinds.ts";
import type { Fleet } from "../discovery/fleet.ts";
import type { ApiClient } from "../sources/kubernetes/api-client.ts";
import type { GatewayFields } from "../sources/kubernetes/gateway-fields.ts";
import type { NodeAddresses } from "../sources/kubernetes/node-addresses.ts";
import type { ProvisionedObjects } from "../sources/kubernetes/provisioned-objects.ts";
import { routabilityField } from "../translate/gateway/status/supported-features.ts";
import { policyKinds } from "../translate/policy-status/kinds.ts";
import type { VipSettings } from "../translate/settings.ts";
import { namespaceFilter } from "../translate/watched-namespaces.ts";
import { backendTlsPolicyReconciler } from "./backend-tls-policy.ts";
import { createGatewayAddressReader } from "./gateway/address.ts";
import { classFinalizerReconciler } from "./gateway/class-finalizer.ts";
import { provisioner } from "./gateway/dedicated/provisioner.ts";
import { createTrustCopies } from "./gateway/dedicated/trust.ts";
import { gatewayClassReconciler } from "./gateway/gateway-class.ts";
import { gatewayReconciler } from "./gateway/gateway.ts";
import { createHandover } from "./gateway/handover.ts";
import { listenerSetReconciler } from "./gateway/listener-set.ts";
import { createNotes } from "./gateway/notes.ts";
import { withReleases } from "./gateway/released-sets.ts";
import { routeReconciler } from "./gateway/route.ts";
import { fallbackCertificateReconciler } from "./fallback-certificate-secret.ts";
import { vipReconciler } from "./gateway/vip.ts";
import { createAddressReader } from "./ingress-address.ts";
import { ingressReconciler, type IngressReconcilerOptions } from "./ingress.ts";
import { namedPolicyReconciler } from "./named-policy.ts";
import { policyReconciler } from "./policy.ts";
import type { Reconciler } from "./reconciler.ts";
import { onlyServed } from "./served-namespaces.ts";
import { sessionKeyReconciler, type SessionKeyOptions } from "./session-key-secret.ts";
import { withStaleEntries, type StaleEntriesOptions } from "./stale-entries.ts";

export type ReconcilersOptions = IngressReconcilerOptions &
  SessionKeyOptions &
  StaleEntriesOptions & {
    readonly fleet: Pick<Fleet, "isProgrammed" | "subscribe">;
    readonly client: ApiClient;
    /** The namespaces whose objects are served; empty for all namespaces. Nothing is written for objects of others. */
    readonly servedNamespaces: readonly string[];
    /** The kinds that the cluster has installed. */
    readonly installed: ReadonlySet<KindName>;
    /** The settings for the Services of Gateways; undefined if they have none. */
    readonly vips: VipSettings | undefined;
    /** The objects created for Gateways; like `nodes` and `gatewayFields`, undefined if Gateways are not served. */
    readonly provisioned: ProvisionedObjects | undefined;
    /** Whether Gateways may have dedicated proxies. */
    readonly hasDedicated: boolean;
    readonly nodes: NodeAddresses | undefined;
    readonly gatewayFields: GatewayFields | undefined;
  };

/** Returns the reconcilers of the controller for the kinds that the cluster has. */
export function createReconcilers(options: ReconcilersOptions): readonly Reconciler[] {
  const all = [
    ingressReconciler(options),
    withStaleEntries(
      policyReconciler("SvcBackendPolicy", options.controllerName, ({ backendPolicies }) => backendPolicies),
      options,
    ),
    backendTlsPolicyReconciler(options),
    ...policyKinds.map((kind) =>
      namedPolicyReconciler(kind, {
        controllerName: options.controllerName,
        isAttached: kind === "SvcExternalAuth" && options.provisioned !== undefined,
      }),
    ),
    sessionKeyReconciler(options),
    fallbackCertificateReconciler(options),
    ...gatewayReconcilers(options),
  ];
  const isServed = namespaceFilter(options.servedNamespaces);
  return all
    .filter(({ kind }) => kind === undefined || options.installed.has(kind))
    .map((reconciler) => (reconciler.kind === undefined ? reconciler : onlyServed(reconciler, isServed)));
}

const routeKinds = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"] as const;

function gatewayReconcilers(options: ReconcilersOptions): readonly Reconciler[] {
  const {
    controllerName,
    fleet,
    client,
    installed,
    vips,
    provisioned,
    nodes,
    gatewayFields,
    installNamespace,
  } = options;
  if (provisioned === undefined || nodes === undefined || gatewayFields === undefined) return [];
  const isServed = namespaceFilter(options.servedNamespaces);
  const refusals = createNotes<string>();
  const failures = createNotes<string>();
  const takenObjects = createNotes<string>();
  const takenVips = createNotes<string>();
  const takenOf = (name: string): string | undefined => takenObjects.get(name) ?? takenVips.get(name);
  const addressesOf = createGatewayAddressReader({
    vips,
    ingressAddresses: createAddressReader(options),
    nodeAddresses: nodes.list,
    refusals,
    hasRoutability: () => gatewayFields.has(routabilityField),
  });
  const handover = createHandover({ fleet, provisioned, addressesOf, failures });
  const trust = createTrustCopies(client, installNamespace);
  const shared = { client, fleet, provisioned, handover, refusals };
  const subscribe = (look: (name: string) => void): (() => void) => {
    const lookAtAll = (gateway: string | undefined): void => {
      for (const name of gateway === undefined ? provisioned.gateways() : [gateway]) look(name);
    };
    const unsubscribe = [
      refusals.subscribe(look),
      failures.subscribe(look),
      takenObjects.subscribe(look),
      takenVips.subscribe(look),
      provisioned.subscribe(lookAtAll),
      nodes.subscribe(() => lookAtAll(undefined)),
      gatewayFields.subscribe(() => lookAtAll(undefined)),
    ];
    return () => unsubscribe.forEach((end) => end());
  };
  return [
    gatewayClassReconciler(installed, gatewayFields),
    ...(installed.has("GatewayClass") ? [classFinalizerReconciler({ client, controllerName })] : []),
    gatewayReconciler({ addressesOf, fleet, handover, takenOf, subscribe }),
    withReleases(listenerSetReconciler({ addressesOf, fleet, subscribe }), client),
    ...routeKinds.map((kind) => withStaleEntries(routeReconciler(kind, controllerName), options)),
    withStaleEntries(
      policyReconciler("ClientTrafficPolicy", controllerName, ({ gatewayPolicies }) => gatewayPolicies),
      options,
    ),
    ...(vips === undefined
      ? []
      : [vipReconciler({ ...shared, taken: takenVips, namespace: vips.namespace, isServed })]),
    onlyServed(provisioner({ ...shared, taken: takenObjects, controllerName, trust, failures }), isServed),
    ...(options.hasDedicated ? [onlyServed(trust.reconciler, isServed, (namespace) => namespace)] : []),
  ];
}
