/** Loads manifests that are not in a folder: a single file, or standard input. */
import { stat } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { createContentFiles } from "./content-files.ts";
import { readDocument } from "./document.ts";
import { readFileState, type PlacedDocument } from "./file-state.ts";
import { emptyFolder, joinFiles, type FolderState } from "./folder-state.ts";
import { manifestName } from "./listing.ts";
import { folderLimits, formatMebibytes } from "./limits.ts";
import type { ManifestProblem } from "./place.ts";
import { describeReadError } from "./read-error.ts";
import { splitDocuments } from "./split.ts";

/** A state and the text that it was read from. */
export type LoadedText = { readonly state: FolderState; readonly text: string };

/**
 * Whether a path is read as a whole (a file, a pipe or a device) and is not a folder. For a path that does not exist or
 * cannot be inspected, the file name extension decides.
 */
export const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => !found.isDirectory(),
    () => manifestName.test(path),
  );

/** Reads a file of any name. Fails if it cannot be read or exceeds the size limit of files in a folder. */
export const loadFile = (path: string): Promise<Result<LoadedText, ManifestProblem>> =>
  loadStream(path, createReadStream(path));

/** Reads a stream to its end; `name` identifies it in findings. */
export async function loadStream(
  name: string,
  stream: AsyncIterable<Uint8Array | string>,
): Promise<Result<LoadedText, ManifestProblem>> {
  const refuse = (message: string): Result<never, ManifestProblem> =>
    fail({ severity: "error", reason: "Unreadable", file: name, message });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of stream) {
      const chunk = typeof part === "string" ? Buffer.from(part) : part;
      bytes += chunk.length;
      if (bytes > folderLimits.maxFileBytes) {
        return refuse(
          `the file is not read: it is larger than ${formatMebibytes(folderLimits.maxFileBytes)}`,
        );
      }
      parts.push(chunk);
    }
  } catch (error) {
    return refuse(describeReadError(error, "the file"));
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    return refuse("the file is not UTF-8 text");
  }
  const documents: PlacedDocument[] = [];
  for (const part of splitDocuments(text)) {
    documents.push({ document: await readDocument(part.text), line: part.line });
  }
  const state = joinFiles([readFileState(name, documents, undefined)], [], emptyFolder);
  return ok({ state: await createContentFiles().resolve(state), text });
}
