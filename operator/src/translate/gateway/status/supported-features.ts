import type { KindName } from "../../../api/kinds.ts";

/** The features of the Gateway API that this release supports, by their names in the conformance suite, sorted. */
const supportedFeatures: readonly string[] = [
  "BackendTLSPolicy",
  "BackendTLSPolicySANValidation",
  "ClusterTrustBundle",
  "GRPCRoute",
  "GRPCRouteNamedRouteRule",
  "GRPCRouteRequestHeaderModifier",
  "Gateway",
  "GatewayAddressEmpty",
  "GatewayAddressRoutability",
  "GatewayAddressRoutabilityCluster",
  "GatewayBackendClientCertificate",
  "GatewayFrontendClientCertificateValidation",
  "GatewayFrontendClientCertificateValidationInsecureFallback",
  "GatewayHTTPListenerIsolation",
  "GatewayHTTPSListenerDetectMisdirectedRequests",
  "GatewayInfrastructure",
  "GatewayListenerFilters",
  "GatewayPort8080",
  "GatewayRouteHostnameIntersectionPrecedence",
  "GatewayStaticAddresses",
  "HTTPRoute",
  "HTTPRoute303RedirectStatusCode",
  "HTTPRoute307RedirectStatusCode",
  "HTTPRoute308RedirectStatusCode",
  "HTTPRouteBackendProtocolH2C",
  "HTTPRouteBackendProtocolWebSocket",
  "HTTPRouteBackendRequestHeaderModification",
  "HTTPRouteBackendTimeout",
  "HTTPRouteBackendURLRewrite",
  "HTTPRouteCORS",
  "HTTPRouteDestinationPortMatching",
  "HTTPRouteHostRewrite",
  "HTTPRouteMethodMatching",
  "HTTPRouteNamedRouteRule",
  "HTTPRouteParentRefPort",
  "HTTPRoutePathRedirect",
  "HTTPRoutePathRewrite",
  "HTTPRoutePortRedirect",
  "HTTPRouteQueryParamMatching",
  "HTTPRouteRequestMirror",
  "HTTPRouteRequestMultipleMirrors",
  "HTTPRouteRequestPercentageMirror",
  "HTTPRouteRequestTimeout",
  "HTTPRouteResponseHeaderModification",
  "HTTPRouteRetryCodes",
  "HTTPRouteRetryConnectionError",
  "HTTPRouteSchemeRedirect",
  "ListenerSet",
  "ReferenceGrant",
  "TCPRoute",
  "TLSRoute",
  "TLSRouteModeMixed",
  "TLSRouteModeTerminate",
  "UDPRoute",
];

/** Kinds that need not be installed. The names of their features begin with the name of the kind. */
const optionalKinds: readonly KindName[] = [
  "BackendTLSPolicy",
  "ClusterTrustBundle",
  "GRPCRoute",
  "ListenerSet",
  "ReferenceGrant",
  "TCPRoute",
  "TLSRoute",
  "UDPRoute",
];

/**
 * A field that the installed definition of a kind can lack, because it is of another channel or of an older release.
 */
export type OptionalField = {
  readonly kind: KindName;
  /** The names of properties from the root of the object. Items of lists have no element of their own. */
  readonly path: readonly string[];
};

const fieldOf = (kind: KindName, path: string): OptionalField => ({ kind, path: path.split(".") });

/**
 * The field in which a Gateway requests the routability of an address: from where it is reachable. Its status
 * reports the same.
 */
export const routabilityField = fieldOf("Gateway", "spec.addresses.routability");

/** The fields that features require, by prefixes of the features' names. */
const neededFields: Readonly<Record<string, OptionalField>> = {
  GatewayAddressRoutability: routabilityField,
  GatewayFrontendClientCertificateValidation: fieldOf("Gateway", "spec.tls.frontend"),
  GatewayListenerFilters: fieldOf("Gateway", "spec.listeners.filters"),
  HTTPRouteCORS: fieldOf("HTTPRoute", "spec.rules.filters.cors"),
  HTTPRouteRetry: fieldOf("HTTPRoute", "spec.rules.retry"),
};

/** Fields that features depend on and that standard or older definitions lack. */
export const optionalFields: readonly OptionalField[] = Object.values(neededFields);

/** The features for the status of a GatewayClass (GEP-2162): those whose kinds and fields are installed. */
export function supportedFeaturesOf(
  installed: ReadonlySet<KindName>,
  hasField: (field: OptionalField) => boolean,
): readonly string[] {
  const missing = [
    ...optionalKinds.filter((kind) => !installed.has(kind)),
    ...Object.entries(neededFields).flatMap(([start, field]) => (hasField(field) ? [] : [start])),
  ];
  return supportedFeatures.filter((feature) => !missing.some((start) => feature.startsWith(start)));
}
