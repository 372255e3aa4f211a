import { loadFolder } from "@svc-gateway/operator/sources/files/file-source.ts";
import { joinFolders, type FolderState } from "@svc-gateway/operator/sources/files/folder-state.ts";
import { isFile, loadFile, loadStream } from "@svc-gateway/operator/sources/files/load-text.ts";
import { readManifest, type ReadManifest } from "@svc-gateway/operator/sources/files/locate-in-file.ts";
import { formatRef } from "@svc-gateway/operator/api/object.ts";
import {
  formatManifestProblem,
  type ManifestProblem,
  type Place,
} from "@svc-gateway/operator/sources/files/place.ts";
import { createFallbackSecret } from "@svc-gateway/operator/keys/fallback-certificate.ts";
import { translate } from "@svc-gateway/operator/translate/translate.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { findShadowedRoutes } from "./check/shadowed-routes.ts";
import { findUnservedAuth } from "./check/unserved-auth.ts";
import { findUnusablePolicies } from "./check/unusable-policies.ts";
import { findUnserved } from "./check/unserved.ts";
import type { Io } from "./command.ts";
import type { FolderSettings } from "./command-flags.ts";
import { standaloneTranslateSettings } from "./translate-settings.ts";

/** Manifests and their translation. */
export type TranslatedFolder = {
  readonly state: FolderState;
  readonly translation: Translation;
  /** Reads the text of a manifest file. */
  readonly read?: ReadManifest;
  /** Whether the objects are those of a live cluster, which have no real places in files. */
  readonly isLive?: boolean;
};

/** The argument for standard input, and its name in findings. */
const standardInput = { argument: "-", name: "<stdin>" };

/** Manifests before they are translated. */
export type ReadFolder = Pick<TranslatedFolder, "state"> &
  Required<Pick<TranslatedFolder, "read">> & {
    /** Whether a file is only read with the others, and not written again; if absent, no file is. */
    readonly isContext?: (file: string) => boolean;
  };

type TranslationSettings = Omit<FolderSettings, "output" | "failOn">;

/**
 * Reads and translates manifests: folders, files, and `-` for standard input, all together. Fails with one line for each file
 * that cannot be read or is not YAML, and for each path without a manifest.
 */
export async function translateFolder(
  paths: readonly string[],
  settings: TranslationSettings,
  io: Pick<Io, "input">,
  nowMs: number,
): Promise<Result<TranslatedFolder, readonly string[]>> {
  const folder = await readFolder(paths, io);
  return folder.ok ? ok(await translateRead(folder.value, settings, nowMs)) : folder;
}

/** Translates manifests that have been read, with findings about objects that are not served. */
export async function translateRead(
  { state, read }: ReadFolder,
  settings: TranslationSettings,
  nowMs: number,
): Promise<TranslatedFolder> {
  const translation = await translateWorld(state.world, settings, nowMs);
  const diagnostics = [
    ...translation.diagnostics,
    ...findUnserved(state.world, translation, settings),
    ...findUnservedAuth(translation, settings),
    ...findUnusablePolicies(translation),
    ...findShadowedRoutes(translation),
  ];
  return { state, read, translation: { ...translation, diagnostics } };
}

/** The places of objects, by the formatted reference of the object. */
export const placesOf = ({ state }: Pick<TranslatedFolder, "state">): ReadonlyMap<string, Place> =>
  new Map([...state.objects.values()].map(({ ref, place }) => [formatRef(ref), place]));

/** Reads manifests as `translateFolder` does. */
export async function readFolder(
  paths: readonly string[],
  io: Pick<Io, "input">,
): Promise<Result<ReadFolder, readonly string[]>> {
  const states: FolderState[] = [];
  const texts = new Map<string, string>();
  const problems: ManifestProblem[] = [];
  for (const path of paths) {
    const loaded = await load(path, io);
    if (!loaded.ok) problems.push(loaded.error);
    else if (isEmpty(loaded.value.state)) problems.push(nothingIn(loaded.value));
    else {
      states.push(loaded.value.state);
      // The text is kept because standard input and pipes cannot be read again.
      if (loaded.value.text !== undefined) texts.set(loaded.value.name, loaded.value.text);
    }
  }
  const state = joinFolders(states);
  const unreadable = [...problems, ...state.problems.filter(isUnreadable)];
  if (unreadable.length > 0) return fail(unreadable.map(formatManifestProblem));
  const read: ReadManifest = (file) => {
    const text = texts.get(file);
    return text === undefined ? readManifest(file) : Promise.resolve(text);
  };
  return ok({ state, read });
}

/** Translates a world with the settings of a folder. */
export async function translateWorld(
  world: World,
  settings: TranslationSettings,
  nowMs: number,
): Promise<Translation> {
  const translateSettings = standaloneTranslateSettings(settings);
  const fallbackCertificate = await createFallbackSecret(translateSettings.installNamespace, nowMs);
  return translate(world, translateSettings, { nowMs, fallbackCertificate });
}

/** The manifests at one path, with their text unless it is a folder, whose files can be read again. */
type Loaded = { readonly state: FolderState; readonly name: string; readonly text?: string };

async function load(path: string, { input }: Pick<Io, "input">): Promise<Result<Loaded, ManifestProblem>> {
  const isInput = path === standardInput.argument;
  if (!isInput && !(await isFile(path))) {
    const folder = await loadFolder(path);
    return folder.ok ? ok({ state: folder.value, name: path }) : folder;
  }
  const name = isInput ? standardInput.name : path;
  const loaded = await (isInput ? loadStream(name, input()) : loadFile(path));
  return loaded.ok ? ok({ ...loaded.value, name }) : loaded;
}

/** Whether there are no manifests at all, not even of unknown kinds or with errors. */
const isEmpty = ({ objects, ignored, problems }: FolderState): boolean =>
  objects.size === 0 && ignored.length === 0 && problems.length === 0;

/** The problem of a path without manifests, which is a mistake or the output of a program that failed. */
const nothingIn = ({ name, text }: Loaded): ManifestProblem => ({
  severity: "error",
  reason: "Unreadable",
  file: name,
  message: `no manifest found, expected ${text === undefined ? "files that end with .yaml, .yml or .json, with objects" : "objects"} of Kubernetes`,
});

const isUnreadable = ({ reason }: ManifestProblem): boolean =>
  reason === "Unreadable" || reason === "InvalidYaml";
