/**
 * Files that are written in place: `>`, `cp` and many editors truncate a file and write it again, so that it is empty or ends too early
 * for a moment. Such a file keeps its objects until it has settled (docs/standalone.md, "Files that are written in place").
 */
import type { FileState, PlacedDocument } from "./file-state.ts";
import type { ListedFile } from "./listing.ts";
import type { SettleTimes } from "./settling.ts";

/** How far a file reaches: what shows whether a later version of it is cut. */
export type Extent = {
  readonly inode: string;
  readonly text: Buffer;
  readonly documents: number;
  readonly isLastParsed: boolean;
};

/** A version of a file: what it contributes, and how far it reaches. */
export type FileVersion = { readonly state: FileState; readonly extent: Extent };

/** Since when a file may be cut. Monotonic milliseconds. */
export type CutTimes = {
  /** In its present version. */
  readonly sinceMs: number;
  /** In all versions since the last one that was not. */
  readonly firstMs: number;
};

/** Of a file that has not been read. */
export const noExtent: Extent = { inode: "", text: Buffer.alloc(0), documents: 0, isLastParsed: true };

export const extentOf = (
  { inode }: ListedFile,
  text: Buffer,
  documents: readonly PlacedDocument[],
): Extent => ({
  inode,
  text,
  documents: documents.length,
  isLastParsed: documents.at(-1)?.document.fault === undefined,
});

/**
 * Whether a version of a file may be cut, compared with the one whose objects are served: it holds nothing, its last document is not
 * YAML, it is the beginning of the former text, or lacks the end of its last line. A file that was renamed over another one is
 * whole, unless it is one that was cut before (`cut`) or empty. So is a file of which nothing is served.
 */
export function mayBeCut(next: FileVersion, served: FileVersion, cut: FileVersion | undefined): boolean {
  const { extent } = next;
  if (served.state.objects.length === 0) return false;
  if (extent.text.length === 0) return true;
  if (extent.inode !== served.extent.inode && extent.inode !== cut?.extent.inode) return false;
  return (
    extent.documents === 0 ||
    !extent.isLastParsed ||
    isBeginningOf(extent.text, served.extent.text) ||
    (endsLine(served.extent.text) && !endsLine(extent.text))
  );
}

/** When a file that may be cut is taken as it is. */
export const cutEndsMs = ({ sinceMs, firstMs }: CutTimes, times: SettleTimes): number =>
  Math.min(sinceMs + times.cutQuietMs, firstMs + times.maxCutMs);

const isBeginningOf = (text: Buffer, whole: Buffer): boolean =>
  text.length < whole.length && whole.subarray(0, text.length).equals(text);

const endsLine = (text: Buffer): boolean => text.at(-1) === 0x0a;
