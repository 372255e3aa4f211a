import { serveHelp } from "@svc-gateway/common/settings/help.ts";
import {
  flagsOf,
  readControllerSettings,
  readProxySettings,
  readStandaloneSettings,
} from "@svc-gateway/common/settings/settings.ts";
import { done, misused, refused, type Command } from "../command.ts";
import { describeUnusedSettings } from "../standalone/unused-settings.ts";

// The modules of a role are imported when it is chosen: the Kubernetes client alone takes longer to load than all
// others.

/** `serve controller`: watches Kubernetes and configures proxies. See docs/controller.md. */
export const serveController: Command = {
  flags: flagsOf("controller"),
  words: "none",
  help: () => serveHelp("controller"),
  async run(argv, io) {
    const read = readControllerSettings({ argv, env: io.env, output: io.out });
    if (!read.ok) return misused(read.error.message);
    const { runController } = await import("../cluster/controller-process.ts");
    const ended = await runController(read.value.settings, read.value.warnings, io);
    return ended.ok ? done(0) : refused(ended.error);
  },
};

/** `serve proxy`: serves the snapshots of a controller. See docs/discovery.md. */
export const serveProxy: Command = {
  flags: flagsOf("proxy"),
  words: "none",
  help: () => serveHelp("proxy"),
  async run(argv, io) {
    const read = readProxySettings({ argv, env: io.env, output: io.out });
    if (!read.ok) return misused(read.error.message);
    const { runProxy } = await import("../cluster/proxy-process.ts");
    const ended = await runProxy(read.value.settings, read.value.warnings, io);
    return ended.ok ? done(0) : refused(ended.error);
  },
};

/**
 * `serve standalone`: serves a folder of manifests, or the rules of `--proxy`, in one process. See docs/standalone.md.
 */
export const serveStandalone: Command = {
  flags: flagsOf("standalone"),
  words: "none",
  help: () => serveHelp("standalone"),
  async run(argv, io) {
    const read = readStandaloneSettings({ argv, env: io.env, output: io.out });
    if (!read.ok) return misused(read.error.message);
    const { settings, warnings } = read.value;
    const allWarnings = [...warnings, ...describeUnusedSettings(settings)];
    const { serveFolder } = await import("../standalone/standalone.ts");
    if (settings.proxy.length > 0) {
      const { serveLocalProxy } = await import("../local-proxy/serve.ts");
      return serveLocalProxy(settings, io, (folder, onReady) =>
        serveFolder({ ...settings, manifests: folder }, allWarnings, io, onReady),
      );
    }
    const served = await serveFolder(settings, allWarnings, io);
    return served.ok ? done(0) : refused(...served.error);
  },
};
