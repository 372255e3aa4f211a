/** Joins the contributions of all files of a folder into one world. Pure. */
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { kindOf } from "../../api/kinds.ts";
import { formatRef } from "../../api/object.ts";
import { emptyWorld, updateWorld, type World, type WorldChange } from "../../world.ts";
import type { ObjectKey } from "./document.ts";
import type { FileState, IgnoredManifest, LoadedObject } from "./file-state.ts";
import { formatPlace, type ManifestProblem } from "./place.ts";

export type FolderState = {
  readonly world: World;
  /** The objects of the world with their places. */
  readonly objects: ReadonlyMap<ObjectKey, LoadedObject>;
  readonly problems: readonly ManifestProblem[];
  readonly ignored: readonly IgnoredManifest[];
};

export const emptyFolder: FolderState = { world: emptyWorld, objects: new Map(), problems: [], ignored: [] };

/**
 * The state of a folder from the states of its files, in path order. If several manifests define one object, the first
 * is used and the others are errors. A kept object is replaced if another file has the object now. An object with
 * unchanged content keeps its identity, so that nothing derived from it is computed again.
 */
export function joinFiles(
  files: readonly FileState[],
  listingProblems: readonly ManifestProblem[],
  previous: FolderState,
): FolderState {
  const objects = new Map<ObjectKey, LoadedObject>();
  const problems: ManifestProblem[] = [...listingProblems];
  for (const file of files) {
    problems.push(...file.problems);
    for (const loaded of file.objects) {
      if (loaded.state !== "current") continue;
      const first = objects.get(loaded.key);
      if (first === undefined) objects.set(loaded.key, keepIdentity(loaded, previous));
      else problems.push(duplicate(loaded, first));
    }
  }
  for (const state of ["kept", "stand-in"]) {
    for (const loaded of files.flatMap((file) => file.objects)) {
      if (loaded.state === state && !objects.has(loaded.key))
        objects.set(loaded.key, keepIdentity(loaded, previous));
    }
  }
  const world = updateWorld(previous.world, changesBetween(previous.objects, objects));
  return { world, objects, problems, ignored: files.flatMap(({ ignored }) => ignored) };
}

/**
 * The joined state of several folders, files or streams. An item that is reached twice, as a file and in its folder,
 * counts once.
 */
export function joinFolders(folders: readonly FolderState[]): FolderState {
  const [first = emptyFolder, ...others] = folders;
  if (others.length === 0) return first;
  const seen = new Set<string>();
  const isNew = (one: { readonly file: string }): boolean => {
    const key = JSON.stringify({ ...one, file: resolve(one.file) });
    const known = seen.has(key);
    seen.add(key);
    return !known;
  };
  const files = folders.map(({ objects, problems, ignored }) => ({
    objects: [...objects.values()].filter(({ place }) => isNew(place)),
    problems: problems.filter(isNew),
    ignored: ignored.filter(isNew),
  }));
  return joinFiles(files, [], emptyFolder);
}

/** The state with other objects under the same keys; `previous` is the state that the result replaces. */
export function replaceObjects(
  state: FolderState,
  objects: FolderState["objects"],
  previous: FolderState | undefined,
): FolderState {
  const { world, objects: before } = previous ?? emptyFolder;
  return { ...state, objects, world: updateWorld(world, changesBetween(before, objects)) };
}

function keepIdentity(loaded: LoadedObject, previous: FolderState): LoadedObject {
  const before = previous.objects.get(loaded.key)?.object;
  return before !== undefined && before !== loaded.object && isDeepStrictEqual(before, loaded.object)
    ? { ...loaded, object: before }
    : loaded;
}

const duplicate = ({ ref, place }: LoadedObject, first: LoadedObject): ManifestProblem => ({
  ...place,
  severity: "error",
  reason: "DuplicateObject",
  manifest: { line: place.line, column: place.column },
  object: ref,
  message: `${formatRef(ref)} is already defined at ${formatPlace(first.place)}, which is used instead`,
});

function* changesBetween(
  before: ReadonlyMap<ObjectKey, LoadedObject>,
  after: ReadonlyMap<ObjectKey, LoadedObject>,
): Generator<WorldChange> {
  for (const [key, { object }] of after) {
    if (before.get(key)?.object !== object) yield { type: "apply", object };
  }
  for (const [key, { ref, object }] of before) {
    const kind = kindOf(object.apiVersion, object.kind);
    if (after.has(key) || kind === undefined) continue;
    yield {
      type: "delete",
      kind,
      name: ref.name,
      ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
    };
  }
}
