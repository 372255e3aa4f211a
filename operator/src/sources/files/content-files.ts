/** Secrets and ConfigMaps whose content is in files beside their manifests (docs/standalone.md, "Content in files"). */
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { shown } from "@svc-gateway/common/values/clip.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { formatRef } from "../../api/object.ts";
import type { LoadedObject } from "./file-state.ts";
import { replaceObjects, type FolderState } from "./folder-state.ts";
import { signatureOf } from "./listing.ts";
import { formatMebibytes } from "./limits.ts";
import type { ManifestProblem } from "./place.ts";
import { describeReadError } from "./read-error.ts";

/** An annotation `files.svc-labs.dev/<key>` of a Secret or ConfigMap names the file with the content of that key. */
export const contentFilePrefix = "files.svc-labs.dev/";

export type ContentFiles = {
  /**
   * Returns the state with the content of all files that its objects name, and a problem for each file that cannot be
   * used.
   */
  resolve(state: FolderState): Promise<FolderState>;
  /** Whether one of these files has changed since it was read. */
  haveChanged(): Promise<boolean>;
};

/** The largest size of a content file; an API server accepts the same size in one object. */
const maxFileBytes = 1024 * 1024;
/** The largest number of content files; the metadata of each is read once a second. */
const maxFiles = 1_000;

type ContentObject = ObjectOf<"Secret"> | ObjectOf<"ConfigMap">;

/** The last read of a file; `signature` is undefined if it could not be read. */
type KnownFile = { readonly signature: string | undefined; readonly content: Result<Buffer, string> };

export function createContentFiles(): ContentFiles {
  let files: ReadonlyMap<string, KnownFile> = new Map();
  let resolved: FolderState | undefined;
  return {
    async resolve(state) {
      const naming = [...state.objects].filter(([, { object }]) => namesFiles(object));
      if (naming.length === 0) {
        files = new Map();
        resolved = undefined;
        return state;
      }
      const next = new Map<string, KnownFile>();
      const objects = new Map(state.objects);
      const problems: ManifestProblem[] = [...state.problems];
      for (const [key, loaded] of naming) {
        const before = resolved?.objects.get(key)?.object as ContentObject | undefined;
        const report = (message: string): void => void problems.push(problemOf(loaded, message));
        objects.set(key, { ...loaded, object: await withContent(loaded, before, next, report) });
      }
      files = next;
      resolved = replaceObjects({ ...state, problems }, objects, resolved);
      return resolved;
    },
    async haveChanged() {
      for (const [path, { signature }] of files) {
        if ((await signatureAt(path)) !== signature) return true;
      }
      return false;
    },
  };

  async function withContent(
    { object, place }: LoadedObject,
    before: ContentObject | undefined,
    next: Map<string, KnownFile>,
    report: (message: string) => void,
  ): Promise<ContentObject> {
    const content = object as ContentObject;
    const data: Record<string, string> = { ...content.data };
    for (const [name, file] of Object.entries(content.metadata.annotations ?? {})) {
      if (!name.startsWith(contentFilePrefix)) continue;
      const key = name.slice(contentFilePrefix.length);
      const read = await readContent(file, place.file, next);
      const value = read.ok ? encode(content, read.value) : read;
      if (value.ok) {
        data[key] = value.value;
        continue;
      }
      const kept = before?.data?.[key];
      if (kept !== undefined) data[key] = kept;
      const instead = kept === undefined ? `has no ${key}` : `keeps the last ${key}`;
      report(
        `metadata.annotations[${name}]: ${value.error}; ${formatRef({ kind: content.kind, ...content.metadata })} ${instead}`,
      );
    }
    const filled = { ...content, data } as ContentObject;
    return before !== undefined && isDeepStrictEqual(before, filled) ? before : filled;
  }

  async function readContent(
    file: string,
    manifest: string,
    next: Map<string, KnownFile>,
  ): Promise<Result<Buffer, string>> {
    const name = JSON.stringify(shown(file));
    if (!isBeside(file))
      return fail(`${name} is not a file beside the manifest, expected a relative path without ".."`);
    const path = join(dirname(manifest), file);
    const present = next.get(path);
    if (present === undefined && next.size >= maxFiles)
      return fail(`${name} is not read: manifests name more than ${maxFiles} files`);
    const known = present ?? (await readKnown(path, files.get(path)));
    next.set(path, known);
    return known.content.ok ? known.content : fail(`${name}: ${known.content.error}`);
  }
}

const namesFiles = (object: LoadedObject["object"]): boolean =>
  (object.kind === "Secret" || object.kind === "ConfigMap") &&
  Object.keys(object.metadata.annotations ?? {}).some((name) => name.startsWith(contentFilePrefix));

/**
 * Whether a path leads to a file below the folder of the manifest. Authors of manifests must not publish other files of
 * the machine through an object, such as keys of other programs. Symbolic links, which a manifest cannot create, are
 * followed.
 */
const isBeside = (path: string): boolean =>
  path !== "" &&
  !path.startsWith("/") &&
  !path.includes("\\") &&
  !path.includes("\0") &&
  !path.split("/").includes("..");

/** The signature of the file at a path; undefined if it does not exist or its metadata cannot be read. */
const signatureAt = async (path: string): Promise<string | undefined> => {
  try {
    return `${await realpath(path)} ${signatureOf(await stat(path, { bigint: true }))}`;
  } catch {
    return undefined;
  }
};

async function readKnown(path: string, known: KnownFile | undefined): Promise<KnownFile> {
  const signature = await signatureAt(path);
  if (signature !== undefined && signature === known?.signature) return known;
  const refuse = (message: string): KnownFile => ({ signature, content: fail(message) });
  try {
    const stats = await stat(path);
    if (!stats.isFile()) return refuse("it is not a file");
    if (stats.size > maxFileBytes) return refuse(`the file is larger than ${formatMebibytes(maxFileBytes)}`);
    return { signature, content: ok(await readFile(path)) };
  } catch (error) {
    return refuse(describeReadError(error, "the file"));
  }
}

function encode({ kind }: ContentObject, bytes: Buffer): Result<string, string> {
  if (kind === "Secret") return ok(bytes.toString("base64"));
  try {
    return ok(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return fail("the file is not UTF-8 text");
  }
}

const problemOf = ({ ref, place }: LoadedObject, message: string): ManifestProblem => ({
  ...place,
  severity: "error",
  reason: "InvalidObject",
  manifest: { line: place.line, column: place.column },
  object: ref,
  message,
});
