/**
 * The program of a thread that does nothing but compare passwords with bcrypt hashes, one after the other. See
 * bcrypt-checker.ts, which starts it.
 */
import { parentPort } from "node:worker_threads";
import { compareSync } from "bcryptjs";

/** A comparison to be made. */
export type BcryptQuestion = { readonly password: string; readonly hash: string };

parentPort?.on("message", ({ password, hash }: BcryptQuestion) => {
  let matches = false;
  try {
    matches = compareSync(password, hash);
  } catch {
    // A malformed hash matches no password.
  }
  parentPort?.postMessage(matches);
});
