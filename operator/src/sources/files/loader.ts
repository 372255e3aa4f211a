import { hash } from "node:crypto";
import { join as joinPath, relative } from "node:path";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { cutEndsMs, extentOf, mayBeCut, noExtent, type CutTimes, type FileVersion } from "./cut-file.ts";
import { readDocument, type ManifestDocument } from "./document.ts";
import {
  keepsLastState,
  keptState,
  readFileState,
  unreadableFile,
  type PlacedDocument,
} from "./file-state.ts";
import { emptyFolder, joinFiles, type FolderState } from "./folder-state.ts";
import { formatMebibytes, type FolderLimits } from "./limits.ts";
import type { ListedFile, Listing } from "./listing.ts";
import { readText } from "./read-text.ts";
import { settleTimes, type SettleTimes } from "./settling.ts";
import { splitDocuments } from "./split.ts";
import type { Pause } from "./yaml-text.ts";

/** Reads a listed folder repeatedly, without the cost of reading unchanged files again. */
export type FolderLoader = {
  /**
   * Fails if a file differs from the listing; nothing is applied then, and the folder must be listed again. In the last
   * attempt such a file is reported as a problem instead, so that a file that never rests cannot delay the others.
   *
   * All changes are applied together. If reading them takes longer than `turnMs`, the result is `reading`, and the
   * caller must call again with a new listing. Files that change meanwhile and are not part of this batch are applied
   * before it, if they were known before and lose no object. An object that moves between files, or a new group of
   * files, is therefore never applied in part.
   *
   * `listedMs` is the time at which the listing was begun, by default the present. A file that may be cut is used if
   * its time had ended by then: it may have been written since.
   */
  load(
    listing: Listing,
    options: { readonly isLastTry: boolean; readonly turnMs?: number; readonly listedMs?: number },
  ): Promise<Result<LoadOutcome, "changed">>;
  /**
   * The time at which the next call of `load` uses a file that may be cut in its present version (monotonic
   * milliseconds); infinity if no file may be cut.
   */
  readonly nextCutEndMs: number;
};

export type LoaderOptions = {
  readonly pause?: Pause;
  readonly times?: SettleTimes;
  /** Called with the path of a file that was cut at every read and is now used in its present version. */
  readonly onNeverWhole?: (file: string) => void;
};

/**
 * The result of `load`. For `reading`, `state` is the folder with the changes that were applied before the batch, or
 * undefined if there are none.
 */
export type LoadOutcome =
  | { readonly type: "read"; readonly state: FolderState }
  | { readonly type: "reading"; readonly state: FolderState | undefined };

/** Changes that are applied together, while they are being read. */
type Batch = {
  readonly paths: Set<string>;
  readonly read: Map<string, KnownFile>;
  /** The file in which the last turn ended. */
  begun: BegunFile | undefined;
};

type BegunFile = {
  readonly path: string;
  readonly signature: string;
  readonly text: Buffer;
  readonly parts: ReturnType<typeof splitDocuments>;
  readonly documents: Map<string, ManifestDocument>;
  readonly placed: PlacedDocument[];
};

/** The last read of a file, with its documents by the hash of their text. */
type KnownFile = FileVersion & {
  readonly signature: string;
  readonly documents: ReadonlyMap<string, ManifestDocument>;
  /**
   * The present content of the file, which may be cut; the other fields describe the version before, which is served.
   */
  readonly cut?: CutTimes & { readonly next: KnownFile };
};

/** A signature that no file has: an entry with it is read again the next time. */
const unread = "";

export function createFolderLoader(
  folder: string,
  limits: FolderLimits,
  { pause, times = settleTimes, onNeverWhole }: LoaderOptions = {},
): FolderLoader {
  let files: ReadonlyMap<string, KnownFile> = new Map();
  let current = emptyFolder;
  let batch: Batch | undefined;
  /** The problems of the listing that was applied last. */
  let ofListing: FolderState["problems"] = [];

  return {
    async load(listing, { isLastTry, turnMs = Number.POSITIVE_INFINITY, listedMs = performance.now() }) {
      const tooMuch = filesBeyondLimit(listing, limits.maxTotalBytes);
      const read = async (file: ListedFile, until: number): Promise<KnownFile | "paused" | undefined> => {
        const known = files.get(file.path);
        const outcome = tooMuch.has(file) ? overBudget(file, known) : await loadFile(file, known, until);
        if (outcome !== undefined || !isLastTry) return outcome;
        return setAside(file, unread, "the file changes while it is read", known);
      };
      const isChanged = (file: ListedFile): boolean => {
        const known = files.get(file.path);
        return tooMuch.has(file) || known?.signature !== file.signature || endOfCut(known) <= listedMs;
      };
      const changed = listing.files.filter(isChanged);
      let hasOvertaken = false;
      if (batch !== undefined) {
        const { paths } = batch;
        const late = changed.filter(({ path }) => files.has(path) && !paths.has(path));
        const overtaking = await overtake(late, (file) => read(file, Number.POSITIVE_INFINITY));
        if (overtaking === "changed") return fail("changed");
        hasOvertaken = overtaking;
        if (hasOvertaken) current = join(files, ofListing);
      }
      batch ??= { paths: new Set(), read: new Map(), begun: undefined };
      // Each turn makes progress, even after a slow listing.
      const untilMs = performance.now() + turnMs;
      let hasBegun = false;
      // Changes that were applied before the batch are not part of it.
      const together = changed.filter(isChanged);
      for (const { path } of together) batch.paths.add(path);
      for (const file of together) {
        if (batch.read.get(file.path)?.signature === file.signature) continue;
        const isOver = hasBegun && performance.now() >= untilMs;
        const outcome = isOver ? "paused" : await read(file, untilMs);
        hasBegun = true;
        if (outcome === undefined) return fail("changed");
        if (outcome === "paused") return ok({ type: "reading", state: hasOvertaken ? current : undefined });
        batch.read.set(file.path, outcome);
      }
      const next = new Map<string, KnownFile>();
      for (const { path } of listing.files) {
        const file = batch.read.get(path) ?? files.get(path);
        if (file !== undefined) next.set(path, file);
      }
      for (const [path, known] of files) {
        if (next.has(path) || !isUnder(path, listing.unreadable)) continue;
        next.set(path, { ...known, signature: unread, state: unreadableFile([], known.state) });
      }
      batch = undefined;
      files = next;
      ofListing = withKept(listing.problems, files);
      current = join(files, ofListing);
      return ok({ type: "read", state: current });
    },
    get nextCutEndMs() {
      let endsMs = Number.POSITIVE_INFINITY;
      for (const known of files.values()) endsMs = Math.min(endsMs, endOfCut(known));
      return endsMs;
    },
  };

  /** The time at which a file that may be cut is used in its present version. */
  function endOfCut({ signature, cut }: KnownFile): number {
    return cut?.next.signature === signature ? cutEndsMs(cut, times) : Number.POSITIVE_INFINITY;
  }

  /** The state of a file whose content is `next` now: its previous contribution while it may be cut. */
  function wholeOrKept(path: string, next: KnownFile, known: KnownFile | undefined): KnownFile {
    if (known === undefined || !mayBeCut(next, known, known.cut?.next)) return next;
    const nowMs = performance.now();
    const cut = { sinceMs: nowMs, firstMs: known.cut?.firstMs ?? nowMs, next };
    const kept = { ...known, signature: next.signature, state: keptState(known.state), cut };
    return endOfCut(kept) > nowMs ? kept : asItIs(path, cut);
  }

  function asItIs(path: string, { sinceMs, next }: NonNullable<KnownFile["cut"]>): KnownFile {
    if (performance.now() < sinceMs + times.cutQuietMs) onNeverWhole?.(joinPath(folder, path));
    return next;
  }

  /**
   * Applies files that have changed while others are being read. Returns false if one of them lost an object, so that
   * all wait for the batch.
   */
  async function overtake(
    late: readonly ListedFile[],
    read: (file: ListedFile) => Promise<KnownFile | "paused" | undefined>,
  ): Promise<boolean | "changed"> {
    if (late.length === 0) return false;
    const next = new Map(files);
    for (const file of late) {
      const outcome = await read(file);
      if (outcome === undefined || outcome === "paused") return "changed";
      if (!holdsAllOf(outcome, files.get(file.path))) return false;
      next.set(file.path, outcome);
    }
    files = next;
    return true;
  }

  /** The problems of a listing, with a remark where objects are kept. */
  function withKept(
    problems: FolderState["problems"],
    kept: ReadonlyMap<string, KnownFile>,
  ): FolderState["problems"] {
    if (problems.length === 0) return problems;
    const places = placesWithObjects(kept);
    return problems.map((problem) =>
      places.has(relative(folder, problem.file)) ? keepsLastState(problem) : problem,
    );
  }

  function join(all: ReadonlyMap<string, KnownFile>, problems: FolderState["problems"]): FolderState {
    const inPathOrder = [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, known]) => known.state);
    return joinFiles(inPathOrder, problems, current);
  }

  /**
   * Reads a file. Returns undefined if it changed since it was listed, and `paused` if the time ended before it was
   * read.
   */
  async function loadFile(
    file: ListedFile,
    known: KnownFile | undefined,
    untilMs: number,
  ): Promise<KnownFile | "paused" | undefined> {
    const { path, signature } = file;
    if (known?.signature === signature) {
      const { cut } = known;
      return cut === undefined || endOfCut(known) > performance.now() ? known : asItIs(path, cut);
    }
    let begun = batch?.begun;
    if (begun?.path !== path || begun.signature !== signature) {
      const text = await readText(file, limits.maxFileBytes);
      if (!text.ok) {
        return text.error.type === "changed"
          ? undefined
          : setAside(file, signature, text.error.message, known);
      }
      const parts = splitDocuments(text.value);
      begun = { path, signature, text: Buffer.from(text.value), parts, documents: new Map(), placed: [] };
    }
    const { text, parts, documents, placed } = begun;
    for (const part of parts.slice(placed.length)) {
      const key = hash("sha256", part.text);
      const document =
        documents.get(key) ?? known?.documents.get(key) ?? (await readDocument(part.text, pause));
      documents.set(key, document);
      placed.push({ document, line: part.line });
      if (placed.length === parts.length || performance.now() < untilMs || batch === undefined) continue;
      batch.begun = begun;
      return "paused";
    }
    const state = readFileState(joinPath(folder, path), placed, known?.state);
    const extent = extentOf(file, text, placed);
    return wholeOrKept(path, { signature, state, extent, documents }, known);
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
      [{ severity: "error", reason: "Unreadable", file: joinPath(folder, path), message }],
      known?.state,
    );
    return { extent: noExtent, documents: new Map(), ...known, signature, state };
  }
}

/** The files whose size, added to that of all files before them in path order, exceeds the limit. */
function filesBeyondLimit({ files }: Listing, maxTotalBytes: number): ReadonlySet<ListedFile> {
  let bytes = 0;
  return new Set(files.filter((file) => (bytes += file.bytes) > maxTotalBytes));
}

/** The files with known objects, and the folders that contain such files; the empty path is the whole folder. */
function placesWithObjects(files: ReadonlyMap<string, KnownFile>): ReadonlySet<string> {
  const places = new Set<string>();
  for (const [path, { state }] of files) {
    if (state.objects.length === 0) continue;
    for (let place = path; !places.has(place); place = place.slice(0, Math.max(0, place.lastIndexOf("/"))))
      places.add(place);
  }
  return places;
}

/** Whether a file still has every object that it had. */
function holdsAllOf({ state }: KnownFile, before: KnownFile | undefined): boolean {
  const keys = new Set(state.objects.map(({ key }) => key));
  return before?.state.objects.every(({ key }) => keys.has(key)) !== false;
}

/** Whether the path is one of these files or is inside one of these folders; the empty path is the whole folder. */
const isUnder = (path: string, places: readonly string[]): boolean =>
  places.some((place) => place === "" || path === place || path.startsWith(`${place}/`));
