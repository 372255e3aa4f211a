import type { StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import { done, refused, type CommandResult, type Io } from "../command.ts";
import { manifestsOf, prepareLocalProxy } from "./local-proxy.ts";

/**
 * Prints the manifests of `--proxy`, or serves them. `serveFolder` gets their folder, which is removed afterwards, and
 * a callback for the time when its ports are bound. Addresses are printed only then: a failed start prints none.
 */
export async function serveLocalProxy(
  settings: StandaloneSettings,
  io: Io,
  serveFolder: (folder: string, onReady: () => void) => Promise<Result<void, readonly string[]>>,
): Promise<CommandResult> {
  if (settings.printManifests) {
    io.out.write(manifestsOf(settings));
    return done(0);
  }
  const prepared = await prepareLocalProxy(settings, io.env);
  if (!prepared.ok) return refused(prepared.error);
  const { folder, lines, remove } = prepared.value;
  try {
    const served = await serveFolder(folder, () => io.err.write(`${lines.join("\n")}\n`));
    return served.ok ? done(0) : refused(...served.error);
  } finally {
    await remove();
  }
}
