/**
 * Detects files that are written in place. `>`, `cp` and many editors truncate a file and write it again, so that it is
 * briefly empty or incomplete. Such a file keeps its objects until it has settled (docs/standalone.md, "Files that are
 * written in place").
 */
import type { FileState, PlacedDocument } from "./file-state.ts";
import type { ListedFile } from "./listing.ts";
import type { SettleTimes } from "./settling.ts";

/** The end and size of a file, by which a later version of it is recognised as cut. */
export type Extent = {
  readonly inode: string;
  readonly text: Buffer;
  readonly documents: number;
  readonly isLastParsed: boolean;
};

/** A version of a file, with what it contributes and its extent. */
export type FileVersion = { readonly state: FileState; readonly extent: Extent };

/** The times from which a file has possibly been cut, in monotonic milliseconds. */
export type CutTimes = {
  /** The time at which its present version was read. */
  readonly sinceMs: number;
  /** The time at which the first possibly cut version since the last whole one was read. */
  readonly firstMs: number;
};

/** The extent of a file that has not been read. */
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
 * Whether a version of a file may be cut, compared with the version whose objects are served. A version may be cut if
 * it is empty or without documents, its last document is not valid YAML, it is a prefix of the served text, or it lacks
 * the newline at the end that the served text has. A version that a rename has moved into place counts as whole, unless
 * it is empty or was itself cut before (`cut`). Any version counts as whole if no objects of the file are served.
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

/** The time at which a file that may be cut is used in its present version. */
export const cutEndsMs = ({ sinceMs, firstMs }: CutTimes, times: SettleTimes): number =>
  Math.min(sinceMs + times.cutQuietMs, firstMs + times.maxCutMs);

const isBeginningOf = (text: Buffer, whole: Buffer): boolean =>
  text.length < whole.length && whole.subarray(0, text.length).equals(text);

const endsLine = (text: Buffer): boolean => text.at(-1) === 0x0a;
