/** Finds the manifest files of a folder at one moment. */
import type { BigIntStats, Dirent } from "node:fs";
import { opendir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { FolderLimits } from "./limits.ts";
import type { ManifestProblem } from "./place.ts";
import { describeReadError, isMissing } from "./read-error.ts";

export type ListedFile = {
  /** The path below the folder, separated by `/`, by which files are sorted and named. */
  readonly path: string;
  /** The path of the content after all symbolic links are resolved; it stays readable while the links are swapped. */
  readonly realPath: string;
  /** Changes when the content may have changed. */
  readonly signature: string;
  /** Changes when another file replaces this one, but not when this one is written to. */
  readonly inode: string;
  readonly bytes: number;
};

export type Listing = {
  /** The manifest files in path order. */
  readonly files: readonly ListedFile[];
  /** Paths of files and folders that exist but cannot be read; `problems` has the reasons. */
  readonly unreadable: readonly string[];
  /**
   * Every directory in which a change can affect the listing or a file, as a map of real path to a text that identifies
   * the directory. That text differs for a directory that was deleted and created again.
   */
  readonly directories: ReadonlyMap<string, string>;
  readonly problems: readonly ManifestProblem[];
};

/**
 * Lists `*.yaml`, `*.yml` and `*.json` below the folder, in path order. Hidden files and folders are skipped, which
 * excludes the `..data` folders of a mounted ConfigMap, whose files are reached by links beside them. A file with
 * several paths is listed under the first. Fails if the folder itself cannot be read.
 */
export async function listFolder(
  folder: string,
  limits: FolderLimits,
): Promise<Result<Listing, ManifestProblem>> {
  const walk: Walk = {
    folder,
    limits,
    files: [],
    unreadable: [],
    directories: new Map(),
    problems: [],
    entriesLeft: limits.maxEntries,
  };
  try {
    await visitFolder("", await realpath(folder), 0, walk);
  } catch (error) {
    return fail(unreadableFolder(folder, error));
  }
  walk.files.sort(({ path: a }, { path: b }) => (a < b ? -1 : a > b ? 1 : 0));
  const seen = new Set<string>();
  const files: ListedFile[] = [];
  for (const file of walk.files) {
    if (seen.has(file.realPath)) continue;
    seen.add(file.realPath);
    if (files.length < limits.maxFiles) files.push(file);
    else
      setAside(file.path, `is not read: the folder holds more than ${limits.maxFiles} manifest files`, walk);
  }
  const { unreadable, directories, problems } = walk;
  return ok({ files, unreadable, directories, problems });
}

/**
 * Returns the problem that prevents the folder from being opened, before anything in it is read; undefined if there is
 * none.
 */
export async function findFolderProblem(folder: string): Promise<ManifestProblem | undefined> {
  try {
    await (await opendir(folder)).close();
    return undefined;
  } catch (error) {
    return unreadableFolder(folder, error);
  }
}

const unreadableFolder = (folder: string, error: unknown): ManifestProblem => ({
  severity: "error",
  reason: "Unreadable",
  file: folder,
  message: describeReadError(error, "the folder"),
});

type Walk = {
  readonly folder: string;
  readonly limits: FolderLimits;
  readonly files: ListedFile[];
  readonly unreadable: string[];
  readonly directories: Map<string, string>;
  readonly problems: ManifestProblem[];
  entriesLeft: number;
};

async function visitFolder(path: string, realPath: string, depth: number, walk: Walk): Promise<void> {
  if (walk.directories.has(realPath)) return;
  walk.directories.set(realPath, await identifyDirectory(realPath));
  const entries: Dirent[] = [];
  for await (const entry of await opendir(realPath, { bufferSize: 256 })) {
    if (walk.entriesLeft === 0) {
      setAside(path, `holds more than ${walk.limits.maxEntries} entries; the rest is not read`, walk);
      break;
    }
    walk.entriesLeft--;
    if (!entry.name.startsWith(".")) entries.push(entry);
  }
  entries.sort(({ name: a }, { name: b }) => (a < b ? -1 : a > b ? 1 : 0));
  const subfolders: Subfolder[] = [];
  for (let at = 0; at < entries.length; at += 64) {
    const batch = entries.slice(at, at + 64);
    const found = await Promise.all(batch.map((entry) => inspect(path, realPath, entry, walk)));
    for (const subfolder of found) if (subfolder !== undefined) subfolders.push(subfolder);
  }
  for (const subfolder of subfolders) await visitSubfolder(subfolder, depth + 1, walk);
}

type Subfolder = { readonly path: string; readonly realPath: string };

async function visitSubfolder({ path, realPath }: Subfolder, depth: number, walk: Walk): Promise<void> {
  if (depth > walk.limits.maxFolderDepth) {
    setAside(path, `is not read: it is more than ${walk.limits.maxFolderDepth} folders deep`, walk);
    return;
  }
  try {
    await visitFolder(path, realPath, depth, walk);
  } catch (error) {
    if (!isMissing(error)) setAside(path, describeReadError(error, "the folder"), walk);
  }
}

export const manifestName = /\.(?:ya?ml|json)$/i;

/** Adds a file to the walk; returns a folder, so that folders are visited in order. */
async function inspect(
  parent: string,
  realParent: string,
  entry: Dirent,
  walk: Walk,
): Promise<Subfolder | undefined> {
  const path = parent === "" ? entry.name : `${parent}/${entry.name}`;
  const isManifest = manifestName.test(entry.name);
  if (entry.isFile() && !isManifest) return undefined;
  const link = join(realParent, entry.name);
  try {
    const stats = await stat(link, { bigint: true });
    const realPath = entry.isSymbolicLink() ? await realpath(link) : link;
    if (stats.isDirectory()) return { path, realPath };
    if (!isManifest) return undefined;
    if (!stats.isFile()) {
      setAside(path, "is neither a file nor a folder and is not read", walk);
      return undefined;
    }
    const target = dirname(realPath);
    if (target !== realParent && !walk.directories.has(target)) {
      walk.directories.set(target, await identifyDirectory(target));
    }
    const signature = `${realPath} ${signatureOf(stats)}`;
    const inode = `${stats.dev} ${stats.ino}`;
    walk.files.push({ path, realPath, signature, inode, bytes: Number(stats.size) });
  } catch (error) {
    if (!isManifest) return undefined;
    if (entry.isSymbolicLink() && isMissing(error)) {
      setAside(path, "is a symbolic link to a file that does not exist", walk);
    } else if (!isMissing(error)) setAside(path, describeReadError(error, "the file"), walk);
  }
  return undefined;
}

/** Differs between two states of a file whose contents differ, as far as its metadata can tell. */
export const signatureOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

async function identifyDirectory(realPath: string): Promise<string> {
  const { dev, ino, birthtimeNs } = await stat(realPath, { bigint: true });
  return `${dev} ${ino} ${birthtimeNs}`;
}

function setAside(path: string, message: string, { folder, unreadable, problems }: Walk): void {
  unreadable.push(path);
  problems.push({ severity: "error", reason: "Unreadable", file: join(folder, path), message });
}
