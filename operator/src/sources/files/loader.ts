import { hash } from "node:crypto";
import { join } from "node:path";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { readDocument, type ManifestDocument } from "./document.ts";
import { readFileState, unreadableFile, type FileState, type PlacedDocument } from "./file-state.ts";
import { emptyFolder, joinFiles, type FolderState } from "./folder-state.ts";
import { formatMebibytes, type FolderLimits } from "./limits.ts";
import type { ListedFile, Listing } from "./listing.ts";
import { readText } from "./read-text.ts";
import { splitDocuments } from "./split.ts";
import type { Pause } from "./yaml-text.ts";

/** Reads a listed folder, again and again; what did not change since the last time costs nothing. */
export type FolderLoader = {
  /**
   * Fails when a file is no longer what was listed; nothing is taken over then, and the folder must be listed anew.
   * In the last try such a file is a problem instead, so that one which never rests cannot hold up the others.
   */
  load(listing: Listing, options: { readonly isLastTry: boolean }): Promise<Result<FolderState, "changed">>;
};

/** A file as it was read last, with the documents in it by the hash of their text. */
type KnownFile = {
  readonly signature: string;
  readonly state: FileState;
  readonly documents: ReadonlyMap<string, ManifestDocument>;
};

/** The signature of no file: what is remembered under it is looked at again the next time. */
const unread = "";

export function createFolderLoader(folder: string, limits: FolderLimits, pause?: Pause): FolderLoader {
  let files: ReadonlyMap<string, KnownFile> = new Map();
  let current = emptyFolder;

  return {
    async load(listing, { isLastTry }) {
      const next = new Map<string, KnownFile>();
      let bytesLeft = limits.maxTotalBytes;
      for (const file of listing.files) {
        bytesLeft -= file.bytes;
        const known = files.get(file.path);
        const read = bytesLeft < 0 ? overBudget(file, known) : await loadFile(file, known);
        if (read === undefined && !isLastTry) return fail("changed");
        next.set(file.path, read ?? setAside(file, unread, "the file changes while it is read", known));
      }
      for (const [path, known] of files) {
        if (next.has(path) || !isUnder(path, listing.unreadable)) continue;
        next.set(path, { ...known, signature: unread, state: unreadableFile([], known.state) });
      }
      files = next;
      const inPathOrder = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, known]) => known.state);
      current = joinFiles(inPathOrder, listing.problems, current);
      return ok(current);
    },
  };

  /** Undefined when the file changed since it was listed. */
  async function loadFile(file: ListedFile, known: KnownFile | undefined): Promise<KnownFile | undefined> {
    const { path, signature } = file;
    if (known?.signature === signature) return known;
    const text = await readText(file, limits.maxFileBytes);
    if (!text.ok) {
      return text.error.type === "changed" ? undefined : setAside(file, signature, text.error.message, known);
    }
    const documents = new Map<string, ManifestDocument>();
    const placed: PlacedDocument[] = [];
    for (const part of splitDocuments(text.value)) {
      const key = hash("sha256", part.text);
      const document =
        documents.get(key) ?? known?.documents.get(key) ?? (await readDocument(part.text, pause));
      documents.set(key, document);
      placed.push({ document, line: part.line });
    }
    return { signature, state: readFileState(join(folder, path), placed, known?.state), documents };
  }

  function overBudget(file: ListedFile, known: KnownFile | undefined): KnownFile {
    const limit = formatMebibytes(limits.maxTotalBytes);
    return setAside(
      file,
      unread,
      `the file is not read: up to here the folder holds more than ${limit}`,
      known,
    );
  }

  function setAside(
    { path }: ListedFile,
    signature: string,
    message: string,
    known: KnownFile | undefined,
  ): KnownFile {
    const state = unreadableFile(
      [{ severity: "error", reason: "Unreadable", file: join(folder, path), message }],
      known?.state,
    );
    return { signature, state, documents: known?.documents ?? new Map() };
  }
}

/** True when the path is one of these files, or lies in one of these folders; the empty path is the whole folder. */
const isUnder = (path: string, places: readonly string[]): boolean =>
  places.some((place) => place === "" || path === place || path.startsWith(`${place}/`));
