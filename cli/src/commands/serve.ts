import type { Role } from "@svc-gateway/common/settings/flag.ts";
import { serveHelp } from "@svc-gateway/common/settings/help.ts";
import { readStandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { done, misused, refused, type Command } from "../command.ts";
import { describeIdleSettings, describeRefusedSettings } from "../standalone/idle-settings.ts";
import { serveFolder } from "../standalone/standalone.ts";

const later = (role: Exclude<Role, "standalone">, summary: string): Command => ({
  name: `serve ${role}`,
  summary: `${summary} Not part of this release yet.`,
  help: () => serveHelp(role),
  run: async () =>
    refused(
      `serve ${role}: not part of this release yet; "svc-gateway serve standalone" serves a folder of manifests`,
    ),
});

export const serveController = later("controller", "Watch Kubernetes and steer proxies.");

export const serveProxy = later("proxy", "Serve traffic as a controller says.");

/** `serve standalone`: a folder of manifests, served by this process. See docs/standalone.md. */
export const serveStandalone: Command = {
  name: "serve standalone",
  summary: "Serve traffic from a folder of manifests.",
  help: () => serveHelp("standalone"),
  async run(argv, io) {
    const read = readStandaloneSettings({ argv, env: io.env });
    if (!read.ok) return misused(read.error.message);
    const { settings, warnings } = read.value;
    const refusal = describeRefusedSettings(settings);
    if (refusal !== undefined) return refused(refusal);
    const served = await serveFolder(settings, [...warnings, ...describeIdleSettings(settings)], io);
    return served.ok ? done(0) : refused(served.error);
  },
};
