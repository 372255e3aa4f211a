import { Worker } from "node:worker_threads";
import type { PasswordQuestion } from "./password-thread.ts";
import { FairQueue } from "./fair-queue.ts";

/** The result of a comparison; `busy` if it was not made: too many wait, it was unwanted, or the thread failed. */
export type PasswordVerdict = "match" | "mismatch" | "busy";

/**
 * Compares passwords with hashes on a dedicated thread: one comparison takes from milliseconds to a second of CPU time,
 * and other requests must not wait for it. Node's thread pool is not used, because name resolution and the checks of
 * signatures need it.
 */
export type PasswordChecker = {
  /**
   * Compares a password with a hash. `isWanted` is called when the turn comes: a comparison whose client has
   * disconnected is skipped. Owners take turns, so that expensive hashes of one owner do not delay the users of
   * another.
   */
  compare(password: string, hash: string, isWanted: () => boolean, owner?: string): Promise<PasswordVerdict>;
  /** Ends the thread; waiting comparisons resolve to `busy`. */
  close(): void;
};

type Job = {
  readonly question: PasswordQuestion;
  readonly isWanted: () => boolean;
  readonly settle: (verdict: PasswordVerdict) => void;
};

/** The extension of the file of the thread: `.ts` in the work tree, `.mjs` in a bundle. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf("."));
const threadFile = new URL(`./password-thread${extension}`, import.meta.url);

/** Starts no thread before the first comparison. At most `maxWaiting` comparisons wait for the one under way (`FairQueue`). */
export function createPasswordChecker(maxWaiting: number): PasswordChecker {
  const waiting = new FairQueue<Job>(maxWaiting);
  let current: Job | undefined;
  let thread: Worker | undefined;

  const finish = (verdict: PasswordVerdict): void => {
    const done = current;
    current = undefined;
    done?.settle(verdict);
    next();
  };

  /** Handles a thread that ended on its own, by a bug or its memory limit; the next comparison starts a new one. */
  const lose = (lost: Worker): void => {
    if (thread !== lost) return;
    thread = undefined;
    finish("busy");
  };

  const startThread = (): Worker => {
    const started = new Worker(threadFile, { name: "passwords" });
    // The thread must not keep the process alive; the requests that wait for an answer do.
    started.unref();
    started.on("message", (matches: boolean) => finish(matches ? "match" : "mismatch"));
    started.on("error", () => lose(started));
    started.on("exit", () => lose(started));
    return started;
  };

  const next = (): void => {
    while (current === undefined) {
      const job = waiting.shift();
      if (job === undefined) return;
      if (!job.isWanted()) {
        job.settle("busy");
        continue;
      }
      current = job;
      thread ??= startThread();
      thread.postMessage(job.question);
    }
  };

  return {
    compare(password, hash, isWanted, owner = "") {
      return new Promise((settle) => {
        waiting.push(owner, { question: { password, hash }, isWanted, settle })?.settle("busy");
        next();
      });
    },
    close() {
      const ended = thread;
      thread = undefined;
      void ended?.terminate();
      const last = current;
      current = undefined;
      last?.settle("busy");
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) job.settle("busy");
    },
  };
}
