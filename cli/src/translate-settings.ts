import { localPublicPort } from "@svc-gateway/common/settings/flag-types.ts";
import { localPortOf, ownPorts } from "@svc-gateway/common/settings/ports.ts";
import type { StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { translateSettingsOf } from "@svc-gateway/operator/control/translate-settings.ts";
import type { TranslateSettings } from "@svc-gateway/operator/translate/settings.ts";

/** The settings that affect the translation of a folder. */
export type TranslationFlags = Parameters<typeof translateSettingsOf>[0] &
  Pick<StandaloneSettings, "portMap" | "proxyBindAddress" | "adminUi" | "adminUiBindAddress" | "adminUiPort">;

/**
 * Derives the translation settings from the flags of `serve standalone`. One process accepts all connections, so the
 * public ports are those of `--port-map` unless others are set, and listeners share the ports of the machine.
 */
export function standaloneTranslateSettings(settings: TranslationFlags): TranslateSettings {
  const { portMap, ingressHttpPort, ingressHttpsPort } = settings;
  const { ingressHttpPublicPort, ingressHttpsPublicPort } = settings;
  // A free port (0) is not known before it is bound: the listener port is used for it.
  const publicPort = (given: number, listenerPort: number): number =>
    given === localPublicPort ? localPortOf(portMap, listenerPort) : given;
  return translateSettingsOf(
    {
      ...settings,
      ingressHttpPublicPort: publicPort(ingressHttpPublicPort, ingressHttpPort),
      ingressHttpsPublicPort: publicPort(ingressHttpsPublicPort, ingressHttpsPort),
    },
    { machinePorts: { map: portMap, taken: ownPorts(settings) } },
  );
}
