/** The program of the thread that compares passwords with hashes, sequentially. Started by password-checker.ts. */
import { parentPort } from "node:worker_threads";
import { matchesHash } from "./crypt/matches-hash.ts";

/** A request for a comparison; the answer is a boolean. */
export type PasswordQuestion = { readonly password: string; readonly hash: string };

parentPort?.on("message", ({ password, hash }: PasswordQuestion) => {
  let matches = false;
  try {
    matches = matchesHash(password, hash);
  } catch {
    // A malformed hash matches no password.
  }
  parentPort?.postMessage(matches);
});
