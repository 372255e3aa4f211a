import { createHash } from "node:crypto";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";

/**
 * The keys of a snapshot in version order with the line that each contributes to the version, kept from one update to
 * the next so that a small update neither sorts nor formats the whole snapshot. Immutable.
 */
export type VersionLines = {
  readonly keys: readonly ResourceKey[];
  readonly lines: readonly string[];
};

export const noVersionLines: VersionLines = { keys: [], lines: [] };

/** Merges changes into the lines: a hash sets the resource of a key, undefined removes it. */
export function changeVersionLines(
  current: VersionLines,
  changes: ReadonlyMap<ResourceKey, string | undefined>,
): VersionLines {
  const changed = [...changes.keys()].sort(compareKeys);
  const keys: ResourceKey[] = [];
  const lines: string[] = [];
  let at = 0;
  for (const key of changed) {
    for (; at < current.keys.length; at++) {
      const kept = current.keys[at] as ResourceKey;
      if (kept >= key) break;
      keys.push(kept);
      lines.push(current.lines[at] as string);
    }
    if (current.keys[at] === key) at++;
    const hash = changes.get(key);
    if (hash === undefined) continue;
    keys.push(key);
    lines.push(`${key}\n${hash}\n`);
  }
  for (; at < current.keys.length; at++) {
    keys.push(current.keys[at] as ResourceKey);
    lines.push(current.lines[at] as string);
  }
  return { keys, lines };
}

/** The version of a snapshot, equal to `snapshotVersion` of common/src/ir/snapshot.ts. */
export const versionOf = ({ lines }: VersionLines): string =>
  createHash("sha256").update(lines.join(""), "utf8").digest("hex");

/** By UTF-16 code units, as the version of a snapshot is defined. */
const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
