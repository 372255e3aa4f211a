import { loadFolder } from "@svc-gateway/operator/sources/files/file-source.ts";
import type { FolderState } from "@svc-gateway/operator/sources/files/folder-state.ts";
import { formatManifestProblem, type ManifestProblem } from "@svc-gateway/operator/sources/files/place.ts";
import { notWatched } from "@svc-gateway/operator/translate/diagnostics.ts";
import { translate } from "@svc-gateway/operator/translate/translate.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { isLeftOut } from "@svc-gateway/operator/translate/watched-namespaces.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { FolderSettings } from "./flags.ts";
import { standaloneTranslateSettings } from "./translate-settings.ts";

/** A folder and what it means. */
export type TranslatedFolder = { readonly state: FolderState; readonly translation: Translation };

/** Reads and translates a folder; fails with one line for each file that cannot be read or is not YAML. */
export async function translateFolder(
  folder: string,
  settings: FolderSettings,
  nowMs: number,
): Promise<Result<TranslatedFolder, readonly string[]>> {
  const loaded = await loadFolder(folder);
  if (!loaded.ok) return fail([formatManifestProblem(loaded.error)]);
  const state = loaded.value;
  const unreadable = state.problems.filter(isUnreadable);
  if (unreadable.length > 0) return fail(unreadable.map(formatManifestProblem));
  const translation = translate(state.world, standaloneTranslateSettings(settings), { nowMs });
  const leftOut = [...state.objects.values()].filter(({ object }) =>
    isLeftOut(object, settings.watchNamespace),
  );
  const diagnostics = [...translation.diagnostics, ...leftOut.map(({ ref }) => notWatched({ object: ref }))];
  return ok({ state, translation: { ...translation, diagnostics } });
}

const isUnreadable = ({ reason }: ManifestProblem): boolean =>
  reason === "Unreadable" || reason === "InvalidYaml";
