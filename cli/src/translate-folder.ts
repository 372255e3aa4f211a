import { loadFolder } from "@svc-gateway/operator/sources/files/file-source.ts";
import type { FolderState } from "@svc-gateway/operator/sources/files/folder-state.ts";
import { isFile, loadFile, loadStream } from "@svc-gateway/operator/sources/files/load-text.ts";
import type { ReadManifest } from "@svc-gateway/operator/sources/files/locate-in-file.ts";
import { formatManifestProblem, type ManifestProblem } from "@svc-gateway/operator/sources/files/place.ts";
import { notWatched } from "@svc-gateway/operator/translate/diagnostics/objects.ts";
import { translate } from "@svc-gateway/operator/translate/translate.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { isLeftOut } from "@svc-gateway/operator/translate/watched-namespaces.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { Io } from "./command.ts";
import type { FolderSettings } from "./command-flags.ts";
import { standaloneTranslateSettings } from "./translate-settings.ts";

/** Manifests and their translation. */
export type TranslatedFolder = {
  readonly state: FolderState;
  readonly translation: Translation;
  /** The text of a manifest file. */
  readonly read?: ReadManifest;
};

/** The argument for standard input, and its name in findings. */
const standardInput = { argument: "-", name: "<stdin>" };

/**
 * Reads and translates manifests: a folder, a file, or `-` for standard input. Fails with one line for each file that cannot be
 * read or is not YAML.
 */
export async function translateFolder(
  path: string,
  settings: FolderSettings,
  io: Pick<Io, "input">,
  nowMs: number,
): Promise<Result<TranslatedFolder, readonly string[]>> {
  const loaded = await load(path, io);
  if (!loaded.ok) return fail([formatManifestProblem(loaded.error)]);
  const { state } = loaded.value;
  const unreadable = state.problems.filter(isUnreadable);
  if (unreadable.length > 0) return fail(unreadable.map(formatManifestProblem));
  const translation = translate(state.world, standaloneTranslateSettings(settings), { nowMs });
  const leftOut = [...state.objects.values()].filter(({ object }) =>
    isLeftOut(object, settings.watchNamespace),
  );
  const diagnostics = [...translation.diagnostics, ...leftOut.map(({ ref }) => notWatched({ object: ref }))];
  return ok({ ...loaded.value, translation: { ...translation, diagnostics } });
}

async function load(
  path: string,
  { input }: Pick<Io, "input">,
): Promise<Result<Pick<TranslatedFolder, "state" | "read">, ManifestProblem>> {
  const isInput = path === standardInput.argument;
  if (!isInput && !(await isFile(path))) {
    const folder = await loadFolder(path);
    return folder.ok ? ok({ state: folder.value }) : folder;
  }
  const loaded = await (isInput ? loadStream(standardInput.name, input()) : loadFile(path));
  if (!loaded.ok) return loaded;
  // What was read from a pipe cannot be read again.
  const { state, text } = loaded.value;
  return ok({ state, read: () => Promise.resolve(text) });
}

const isUnreadable = ({ reason }: ManifestProblem): boolean =>
  reason === "Unreadable" || reason === "InvalidYaml";
