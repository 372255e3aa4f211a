import { readFile } from "node:fs/promises";
import { toJsonValue } from "./convert.ts";
import { manifestsOf } from "./document.ts";
import { locateField } from "./locate.ts";
import type { Place } from "./place.ts";
import { splitDocuments } from "./split.ts";
import { parseYaml } from "./yaml-text.ts";

/** Returns the text of a manifest file; empty if it can no longer be read. */
export type ReadManifest = (file: string) => Promise<string>;

/** Reads the text of a file. */
export const readManifest: ReadManifest = (file) => readFile(file, "utf8").catch(() => "");

/**
 * Returns the places of the fields of an object, by path, from its file, which is read again. A field that the file
 * does not contain has the place of the closest level around it. `object` is the place of the object itself. If the
 * file has changed in the meantime, every field has that place.
 */
export async function locateInFile(
  object: Place,
  paths: readonly string[],
  read: ReadManifest = readManifest,
): Promise<ReadonlyMap<string, Place>> {
  const unknown = new Map(paths.map((path) => [path, object]));
  const text = await read(object.file);
  const document = splitDocuments(text.replace(/^\uFEFF/, "")).findLast(({ line }) => line < object.line);
  if (document === undefined) return unknown;
  for (const parsed of await parseYaml(document.text)) {
    if (!parsed.ok) continue;
    const { root, positionOf } = parsed.value;
    const converted = toJsonValue(root);
    const placeOf = (offset: number): Place => {
      const { line, column } = positionOf(offset);
      return { file: object.file, line: line + document.line, column };
    };
    for (const { written, offset } of manifestsOf(root, converted)) {
      const { line, column } = placeOf(offset);
      if (line !== object.line || column !== object.column) continue;
      return new Map(paths.map((path) => [path, placeOf(locateField(converted, written, path, offset))]));
    }
  }
  return unknown;
}
