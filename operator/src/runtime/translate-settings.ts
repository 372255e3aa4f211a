import type { ControllerSettings, ControlPlaneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { VipSettings } from "../translate/gateway/vip-plan.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../translate/settings.ts";

/**
 * What the flags of a process say about translation; `gatewayVips` says which Services Gateways get, if they do. Call it once: work is remembered by the result's identity.
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
  >,
  gatewayVips?: VipSettings,
): TranslateSettings => ({
  controllerName: settings.controllerName,
  ingressClass: settings.ingressClass,
  watchNamespaces: settings.watchNamespace,
  ingressEnabled: !settings.disableIngress,
  gatewayApiEnabled: !settings.disableGatewayApi,
  gatewayVips,
  ingressHttpPort: settings.ingressHttpPort,
  ingressHttpsPort: settings.ingressHttpsPort,
  ingressHttpPublicPort: settings.ingressHttpPublicPort,
  ingressHttpsPublicPort: settings.ingressHttpsPublicPort,
  ingressDefaultBackend: settings.ingressDefaultBackend,
  defaultTlsSecret: settings.defaultTlsSecret,
  installNamespace: defaultTranslateSettings.installNamespace,
  allowExternalName: settings.allowExternalName,
});

/** The Services of Gateways as the flags want them; undefined without a selector for the shared proxies. */
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
