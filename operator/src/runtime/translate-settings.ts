import type { ControlPlaneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { TranslateSettings } from "../translate/settings.ts";

/** What the flags of a process say about translation. Call it once: work is remembered by the result's identity. */
export const translateSettingsOf = (
  settings: Pick<
    ControlPlaneSettings,
    | "controllerName"
    | "ingressClass"
    | "watchNamespace"
    | "disableIngress"
    | "ingressHttpPort"
    | "ingressHttpsPort"
    | "ingressHttpPublicPort"
    | "ingressHttpsPublicPort"
    | "ingressDefaultBackend"
    | "defaultTlsSecret"
    | "allowExternalName"
  >,
): TranslateSettings => ({
  controllerName: settings.controllerName,
  ingressClass: settings.ingressClass,
  watchNamespaces: settings.watchNamespace,
  ingressEnabled: !settings.disableIngress,
  ingressHttpPort: settings.ingressHttpPort,
  ingressHttpsPort: settings.ingressHttpsPort,
  ingressHttpPublicPort: settings.ingressHttpPublicPort,
  ingressHttpsPublicPort: settings.ingressHttpsPublicPort,
  ingressDefaultBackend: settings.ingressDefaultBackend,
  defaultTlsSecret: settings.defaultTlsSecret,
  allowExternalName: settings.allowExternalName,
});
