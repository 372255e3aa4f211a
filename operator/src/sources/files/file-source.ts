/** A folder of manifests as a source of worlds: read once, or followed while it changes (docs/standalone.md). */
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { createContentFiles } from "./content-files.ts";
import { createDirectoryWatchers } from "./directory-watchers.ts";
import { keepsLastState } from "./file-state.ts";
import type { FolderState } from "./folder-state.ts";
import { folderLimits, type FolderLimits } from "./limits.ts";
import { listFolder } from "./listing.ts";
import { createFolderLoader } from "./loader.ts";
import type { ManifestProblem } from "./place.ts";
import { createSettling, settleTimes, type SettleTimes } from "./settling.ts";
import { createWakeUp } from "./wake-up.ts";
import type { Pause } from "./yaml-text.ts";

/**
 * The number of attempts to read a file that keeps changing while it is read; after that it is reported, and its last
 * state is kept.
 */
const maxReadTries = 5;

/**
 * The intervals at which a folder is listed: one that cannot be watched, and one that can, in case a watch misses a
 * change.
 */
const pollIntervalMs = { unwatched: 150, watched: 1_000 };

/** The largest share of the time that polling spends on listing, which is slow for a large folder. */
const maxPollShare = 0.05;

/** The time for which events are gathered after the first; several usually follow each other closely. */
const gatherMs = 5;

/** The time for which a large change is read before the folder is checked for other changes. */
const turnMs = 100;

/** The time for which manifests are parsed before other work of this thread, such as requests, is served. */
const maxBlockMs = 8;

/**
 * Reads a folder once. Fails if the folder cannot be read; every fault inside it is reported as a problem of the state.
 */
export async function loadFolder(
  folder: string,
  limits: FolderLimits = folderLimits,
): Promise<Result<FolderState, ManifestProblem>> {
  const loader = createFolderLoader(folder, limits);
  for (let tries = 1; ; tries++) {
    const listing = await listFolder(folder, limits);
    if (!listing.ok) return listing;
    const state = await loader.load(listing.value, { isLastTry: tries >= maxReadTries });
    if (state.ok && state.value.type === "read")
      return ok(await createContentFiles().resolve(state.value.state));
  }
}

export type FileSourceOptions = {
  readonly folder: string;
  /** Ends the source. */
  readonly signal: AbortSignal;
  /** Called with the first state before startFileSource resolves, then after every change in the folder. */
  readonly onState: (state: FolderState) => void;
  readonly log: Logger;
  readonly limits?: FolderLimits;
  readonly times?: SettleTimes;
};

/** A running source; `closed` resolves once the signal has ended it. */
export type FileSource = { readonly closed: Promise<void> };

/**
 * Reads a folder and follows it. A change arrives some 30 ms after it was made, and within 200 ms if the folder cannot
 * be watched or is still being written to. Fails if the folder cannot be read at the start. If it becomes unreadable
 * later, that is a problem of the state, whose objects are kept.
 */
export async function startFileSource(
  options: FileSourceOptions,
): Promise<Result<FileSource, ManifestProblem>> {
  const { folder, signal, onState, log, limits = folderLimits, times = settleTimes } = options;
  const wakeUp = createWakeUp();
  const watchers = createDirectoryWatchers(wakeUp.notify);
  const loader = createFolderLoader(folder, limits, { pause: createPause(), times, onNeverWhole });
  const settling = createSettling(times);
  const contents = createContentFiles();
  let state: FolderState | undefined;
  /** The state with the content of the files that its objects name. */
  let resolved: FolderState | undefined;
  let missing: ManifestProblem | undefined;
  let lookMs = 0;

  const first = await look();
  if (!first.ok) {
    watchers.close();
    return first;
  }
  return ok({ closed: follow() });

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      const isWatched = watchers.isComplete && missing === undefined;
      const intervalMs = isWatched ? pollIntervalMs.watched : pollIntervalMs.unwatched;
      const untilCutEndsMs = Math.max(loader.nextCutEndMs - performance.now(), times.quietMs);
      const waitMs = Math.min(Math.max(intervalMs, lookMs / maxPollShare), untilCutEndsMs);
      if (await wakeUp.wait(waitMs, signal)) await sleep(gatherMs, signal);
      if (signal.aborted) break;
      try {
        await followOnce();
      } catch (error) {
        log.error(
          { event: "manifest_folder_failed", folder, err: error },
          "reading the manifest folder failed",
        );
      }
    }
    watchers.close();
  }

  async function followOnce(): Promise<void> {
    const looked = await look();
    if (looked.ok && state !== undefined && (await contents.haveChanged())) await take(state);
    if (looked.ok || looked.error.message === missing?.message) return;
    missing = looked.error;
    // Problems inside the folder stay reported, because nothing shows that they have been fixed.
    if (resolved !== undefined)
      onState({ ...resolved, problems: [keepsLastState(missing), ...resolved.problems] });
  }

  function onNeverWhole(file: string): void {
    log.warn(
      { event: "manifest_never_whole", file, after_ms: times.maxCutMs },
      "manifest file was empty or cut whenever it was read, expected it to be whole for a moment; it is used as it is",
    );
  }

  async function take(next: FolderState): Promise<void> {
    state = next;
    resolved = await contents.resolve(next);
    onState(resolved);
  }

  /** Applies the present content of the folder, unless it was applied before. */
  async function look(): Promise<Result<void, ManifestProblem>> {
    for (let tries = 1; !signal.aborted;) {
      const listedMs = performance.now();
      const listing = await listFolder(folder, limits);
      if (!listing.ok) return fail(listing.error);
      lookMs = performance.now() - listedMs;
      if (watchers.update(listing.value.directories)) continue; // to find changes made since it was listed
      const verdict = settling.observe(listing.value, performance.now());
      if (verdict.type === "wait") {
        await sleep(verdict.waitMs, signal);
        continue;
      }
      if (verdict.type === "settled" || loader.nextCutEndMs <= listedMs) {
        // The first state is read in one turn: nothing is served yet that other changes could update.
        const turn = state === undefined ? {} : { turnMs };
        const isLastTry = tries >= maxReadTries;
        const loaded = await loader.load(listing.value, { isLastTry, listedMs, ...turn });
        if (loaded.ok && loaded.value.type === "reading") {
          settling.defer(listing.value, performance.now());
          if (loaded.value.state !== undefined) await take(loaded.value.state);
          continue;
        }
        if (!loaded.ok) {
          tries++;
          await sleep(times.quietMs, signal);
          continue;
        }
        settling.accept(listing.value);
        state = loaded.value.state;
      } else if (missing === undefined) break;
      missing = undefined;
      if (state !== undefined) await take(state);
      break;
    }
    return ok(undefined);
  }
}

/** Yields the thread after every few milliseconds of work. */
function createPause(): Pause {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < maxBlockMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        sinceMs = performance.now();
        resolve();
      });
    });
  };
}

const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
  await createWakeUp().wait(ms, signal);
};
