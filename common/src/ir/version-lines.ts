import { createHash } from "node:crypto";
import type { ResourceKey } from "./keys.ts";
import { changeEntries, type SortedEntries } from "./sorted-entries.ts";

/**
 * The line that each resource contributes to the version of a snapshot, kept from one update to the next so that a small
 * update neither sorts nor formats the whole snapshot.
 */
export type VersionLines = SortedEntries<string>;

export const versionLine = (key: ResourceKey, hash: string): string => `${key}\n${hash}\n`;

/** Merges changes into the lines: a hash sets the resource of a key, undefined removes it. */
export function changeVersionLines(
  current: VersionLines,
  changes: ReadonlyMap<ResourceKey, string | undefined>,
): VersionLines {
  const lines = new Map<ResourceKey, string | undefined>();
  for (const [key, hash] of changes) lines.set(key, hash === undefined ? undefined : versionLine(key, hash));
  return changeEntries(current, lines);
}

/** SHA-256 (hex) of all lines in key order. */
export function versionOf({ values }: VersionLines): string {
  const hash = createHash("sha256");
  // In pieces: neither a call for each of ten thousands of lines, nor one text of several megabytes.
  let piece = "";
  for (const line of values) {
    piece += line;
    if (piece.length < maxPieceLength) continue;
    hash.update(piece);
    piece = "";
  }
  return hash.update(piece).digest("hex");
}

const maxPieceLength = 32 * 1024;
