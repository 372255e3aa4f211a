import { createHash, type Hash } from "node:crypto";
import type { ResourceKey } from "./keys.ts";
import { changeEntries, compareKeys, type SortedEntries } from "./sorted-entries.ts";

/** A section of the hashes in key order, and the bytes that it contributes to the version. */
type Page = { readonly hashes: SortedEntries<string>; readonly bytes: Buffer };

/**
 * The input of a snapshot's version, kept between updates: a small update formats only the pages that it changes, and
 * hashes only from the first of these pages on.
 */
export type VersionLines = {
  readonly pages: readonly Page[];
  /** The state of SHA-256 before each page, as far as it has been computed. */
  readonly states: Hash[];
};

export const noVersionLines: VersionLines = { pages: [], states: [] };

/** The maximum number of lines in a page before it is split, about 30 KiB. */
const maxPageLength = 256;

/** The lines of a whole snapshot. */
export const versionLinesOf = (hashes: SortedEntries<string>): VersionLines => ({
  pages: split(hashes).map(formatPage),
  states: [],
});

/** Merges changes into the lines: a hash sets the resource of a key, undefined removes it. */
export function changeVersionLines(
  { pages, states }: VersionLines,
  changes: ReadonlyMap<ResourceKey, string | undefined>,
): VersionLines {
  if (changes.size === 0) return { pages, states };
  const changesByPage = new Map<number, Map<ResourceKey, string | undefined>>();
  for (const [key, hash] of changes) {
    const index = pageOf(pages, key);
    const ofPage = changesByPage.get(index) ?? new Map<ResourceKey, string | undefined>();
    changesByPage.set(index, ofPage.set(key, hash));
  }
  const next: Page[] = [];
  for (const [index, page] of (pages.length === 0 ? [emptyPage] : pages).entries()) {
    const ofPage = changesByPage.get(index);
    if (ofPage === undefined) next.push(page);
    else for (const part of split(changeEntries(page.hashes, ofPage))) next.push(formatPage(part));
  }
  return { pages: next, states: states.slice(0, Math.min(...changesByPage.keys()) + 1) };
}

/** Returns the SHA-256 (hex) of the line of each resource, `key\nhash\n`, in key order. */
export function versionOf({ pages, states }: VersionLines): string {
  let state = states.pop() ?? createHash("sha256");
  for (const { bytes } of pages.slice(states.length)) {
    states.push(state);
    state = state.copy().update(bytes);
  }
  states.push(state);
  return state.copy().digest("hex");
}

const emptyPage: Page = { hashes: { keys: [], values: [] }, bytes: Buffer.alloc(0) };

/** The index of the last page that begins at or before a key; 0 for a key before all others. */
function pageOf(pages: readonly Page[], key: ResourceKey): number {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(pages[middle]?.hashes.keys[0] ?? "", key) <= 0) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Splits hashes into pages of half the maximum length, which leaves room to grow. */
function split({ keys, values }: SortedEntries<string>): readonly SortedEntries<string>[] {
  if (keys.length === 0) return [];
  if (keys.length <= maxPageLength) return [{ keys, values }];
  const length = maxPageLength / 2;
  return Array.from({ length: Math.ceil(keys.length / length) }, (_, index) => ({
    keys: keys.slice(index * length, (index + 1) * length),
    values: values.slice(index * length, (index + 1) * length),
  }));
}

function formatPage(hashes: SortedEntries<string>): Page {
  const lines = hashes.keys.map((key, index) => `${key}\n${hashes.values[index]}\n`);
  return { hashes, bytes: Buffer.from(lines.join("")) };
}
