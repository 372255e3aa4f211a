import { localPortsOf } from "@svc-gateway/common/admin/local-ports.ts";
import { localPublicPort } from "@svc-gateway/common/settings/flag-types.ts";
import type { ControllerSettings, ControlPlaneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { KindName } from "../api/kinds.ts";
import { baseTemplateOf } from "../translate/gateway/dedicated/overlay.ts";
import { podPorts } from "../translate/gateway/dedicated/pod-parts.ts";
import {
  defaultTranslateSettings,
  type TranslateSettings,
  type VipSettings,
  type DedicatedSettings,
} from "../translate/settings.ts";

/**
 * The translation settings from the flags, with the settings for objects that only a controller in a cluster creates
 * for Gateways. Call it once: results are cached by the identity of the settings.
 */
export const translateSettingsOf = (
  settings: Pick<
    ControlPlaneSettings,
    | "controllerName"
    | "ingressClass"
    | "watchNamespace"
    | "disableIngress"
    | "disableGatewayApi"
    | "ingressHttpPort"
    | "ingressHttpsPort"
    | "ingressHttpPublicPort"
    | "ingressHttpsPublicPort"
    | "ingressDefaultBackend"
    | "defaultTlsSecret"
    | "allowExternalName"
    | "backendTlsStrict"
    | "classParametersStrict"
    | "hostOwnership"
    | "ingressNginxClasses"
    | "ingressNginxWatchWithoutClass"
    | "ingressNginxAnnotationsPrefix"
    | "ingressNginxConfigmap"
    | "ingressNginxUpdateStatus"
    | "ingressNginxFallbackCertificate"
    | "ingressNginxSslPassthrough"
    | "ingressNginxExternalAuth"
    | "ingressNginxSharedServices"
    | "ingressNginxDisableCatchAll"
    | "ingressNginxRequireBackendVerification"
    | "managementBindAddress"
    | "adminPort"
    | "healthPort"
  >,
  {
    gatewayVips,
    dedicated,
    machinePorts,
    refusesDedicated = false,
  }: Partial<Pick<TranslateSettings, "gatewayVips" | "dedicated" | "machinePorts" | "refusesDedicated">> = {},
): TranslateSettings => ({
  controllerName: settings.controllerName,
  ingressClass: settings.ingressClass,
  ingressNginx: {
    classes: settings.ingressNginxClasses,
    watchWithoutClass: settings.ingressNginxWatchWithoutClass,
    annotationsPrefix: settings.ingressNginxAnnotationsPrefix,
    configMap: settings.ingressNginxConfigmap,
    updateStatus: settings.ingressNginxUpdateStatus,
    fallbackCertificate: settings.ingressNginxFallbackCertificate,
    sslPassthrough: settings.ingressNginxSslPassthrough,
    externalAuth: settings.ingressNginxExternalAuth,
    sharedServices: settings.ingressNginxSharedServices,
    disableCatchAll: settings.ingressNginxDisableCatchAll,
    requireBackendVerification: settings.ingressNginxRequireBackendVerification,
  },
  watchNamespaces: settings.watchNamespace,
  ingressEnabled: !settings.disableIngress,
  gatewayApiEnabled: !settings.disableGatewayApi,
  gatewayVips,
  dedicated,
  machinePorts,
  refusesDedicated,
  ingressHttpPort: settings.ingressHttpPort,
  ingressHttpsPort: settings.ingressHttpsPort,
  ingressHttpPublicPort: publicPort(settings.ingressHttpPublicPort, settings.ingressHttpPort, 80),
  ingressHttpsPublicPort: publicPort(settings.ingressHttpsPublicPort, settings.ingressHttpsPort, 443),
  ingressDefaultBackend: settings.ingressDefaultBackend,
  defaultTlsSecret: settings.defaultTlsSecret,
  installNamespace: defaultTranslateSettings.installNamespace,
  allowExternalName: settings.allowExternalName,
  localPorts: localPortsOf(settings),
  backendTlsStrict: settings.backendTlsStrict,
  classParametersStrict: settings.classParametersStrict,
  hostOwnership: settings.hostOwnership,
  trustBundles: defaultTranslateSettings.trustBundles,
  maxScopeBytes: defaultTranslateSettings.maxScopeBytes,
  maxServiceEndpointBytes: defaultTranslateSettings.maxServiceEndpointBytes,
  maxEndpointBytes: defaultTranslateSettings.maxEndpointBytes,
  maxKeySetBytes: defaultTranslateSettings.maxKeySetBytes,
});

/** The translation settings of a controller in a cluster with these kinds. Call it once, like `translateSettingsOf`. */
export const clusterTranslateSettings = (
  settings: ControllerSettings,
  installed: ReadonlySet<KindName>,
): TranslateSettings => ({
  ...translateSettingsOf(settings, {
    gatewayVips: vipSettingsOf(settings),
    dedicated: dedicatedSettingsOf(settings),
    refusesDedicated: settings.disableDedicatedGateways,
  }),
  installNamespace: settings.podNamespace,
  trustBundles: installed.has("ClusterTrustBundle"),
  localPorts: ownPortsOf(settings),
});

/** The namespaces that a controller reads, sorted; undefined for all namespaces. */
export function readNamespacesOf({
  readNamespace,
  watchNamespace,
  podNamespace,
  disableClusterScope,
}: Pick<ControllerSettings, "readNamespace" | "watchNamespace" | "podNamespace" | "disableClusterScope">):
  readonly string[] | undefined {
  if (readNamespace.length === 0 && !disableClusterScope) return undefined;
  return [...new Set([...readNamespace, ...watchNamespace, podNamespace])].sort();
}

/** The namespaces that can have Gateways of ours, with the objects created for these; undefined for all namespaces. */
export function servedNamespacesOf(
  settings: Parameters<typeof readNamespacesOf>[0],
): readonly string[] | undefined {
  const read = readNamespacesOf(settings);
  return read === undefined || settings.watchNamespace.length === 0 ? read : settings.watchNamespace;
}

/** The ports of all processes of an installation; every replica has the same as this one. */
export const ownPortsOf = ({
  adminPort,
  healthPort,
  discoveryPort,
  discoveryBootstrapPort,
  adminUi,
  adminUiPort,
}: Pick<
  ControllerSettings,
  "adminPort" | "healthPort" | "discoveryPort" | "discoveryBootstrapPort" | "adminUi" | "adminUiPort"
>): readonly number[] =>
  [
    ...Object.values(podPorts),
    ...[adminPort, healthPort, discoveryPort, discoveryBootstrapPort],
    ...(adminUi ? [adminUiPort] : []),
  ].filter((port) => port > 0);

/**
 * Returns the public port. For `localPublicPort`, that is the port of the listener, or without a listener the default
 * port of the scheme.
 */
const publicPort = (given: number, listenerPort: number, ofScheme: number): number =>
  given === localPublicPort ? listenerPort || ofScheme : given;

/** The settings of the Services of Gateways from the flags; undefined without a selector for the shared proxies. */
export function vipSettingsOf({
  podNamespace,
  sharedProxySelector,
  sharedVipServiceType,
  disableGatewayApi,
}: Pick<
  ControllerSettings,
  "podNamespace" | "sharedProxySelector" | "sharedVipServiceType" | "disableGatewayApi"
>): VipSettings | undefined {
  if (disableGatewayApi || Object.keys(sharedProxySelector).length === 0) return undefined;
  return { namespace: podNamespace, selector: sharedProxySelector, serviceType: sharedVipServiceType };
}

/** The settings of dedicated Gateways; undefined if these are not served. */
export function dedicatedSettingsOf({
  podNamespace,
  dedicatedImage,
  dedicatedPodTemplate,
  disableDedicatedGateways,
  disableGatewayApi,
  discoveryService,
  discoveryPort,
  discoveryBootstrapPort,
  discoveryTrustDomain,
}: Pick<
  ControllerSettings,
  | "podNamespace"
  | "dedicatedImage"
  | "dedicatedPodTemplate"
  | "disableDedicatedGateways"
  | "disableGatewayApi"
  | "discoveryService"
  | "discoveryPort"
  | "discoveryBootstrapPort"
  | "discoveryTrustDomain"
>): DedicatedSettings | undefined {
  if (disableGatewayApi || disableDedicatedGateways) return undefined;
  const template = baseTemplateOf(dedicatedPodTemplate);
  const host = `${discoveryService}.${podNamespace}.svc`;
  return {
    image: dedicatedImage,
    // A malformed template has already ended the start.
    podTemplate: template.ok ? template.value : {},
    discoveryEndpoint: `${host}:${discoveryPort}`,
    bootstrapEndpoint: `${host}:${discoveryBootstrapPort}`,
    trustDomain: discoveryTrustDomain,
  };
}
