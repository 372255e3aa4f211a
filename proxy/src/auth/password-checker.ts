import { Worker } from "node:worker_threads";
import type { PasswordQuestion } from "./password-thread.ts";
import { FairQueue } from "./fair-queue.ts";

/** `busy`: too many comparisons wait, or the thread has failed; nothing is known about the password. */
export type PasswordVerdict = "match" | "mismatch" | "busy";

/**
 * Compares passwords with hashes on a thread of its own: one comparison takes from milliseconds to a second of a
 * processor, and other requests must not wait for it. A thread instead of Node's pool, because name resolution and the
 * checks of signatures need that pool, too.
 */
export type PasswordChecker = {
  /**
   * `isWanted` is asked when the turn comes: a comparison whose client has left is skipped. Owners take turns, so that
   * expensive hashes of one do not keep the users of another waiting.
   */
  compare(password: string, hash: string, isWanted: () => boolean, owner?: string): Promise<PasswordVerdict>;
  /** Ends the thread; what waits is answered `busy`. */
  close(): void;
};

type Job = {
  readonly question: PasswordQuestion;
  readonly isWanted: () => boolean;
  readonly settle: (verdict: PasswordVerdict) => void;
};

/** The name that this file's neighbour has here: `.ts` in the work tree, `.mjs` in a bundle. */
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

  /** A thread that ends by itself has met a bug or the limit of its memory: the next comparison gets a new one. */
  const lose = (lost: Worker): void => {
    if (thread !== lost) return;
    thread = undefined;
    finish("busy");
  };

  const startThread = (): Worker => {
    const started = new Worker(threadFile, { name: "passwords" });
    // What waits for an answer keeps the process alive, the thread does not.
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
