/**
 * The program of a thread that does nothing but compare passwords with hashes, one after the other. See
 * password-checker.ts, which starts it.
 */
import { parentPort } from "node:worker_threads";
import { matchesHash } from "./crypt/matches-hash.ts";

/** A comparison to be made. */
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
