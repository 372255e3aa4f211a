/** Password hashes in htpasswd files: the kinds that are accepted, and the reasons why others are not. */
import { ok, problem, type Result } from "./result.ts";

/**
 * The kinds of hashes. `bcrypt`: `$2a$`, `$2b$`, `$2y$`. `md5`: `$1$` and `$apr1$`. `sha256`, `sha512`: `$5$`, `$6$`.
 * `sha1`: `{SHA}`. `ssha1`: `{SSHA}`. `plain`: `{PLAIN}` with the password itself.
 */
export type PasswordHashKind = "bcrypt" | "md5" | "sha256" | "sha512" | "sha1" | "ssha1" | "plain";

/** Whether a kind is so fast to compute that a dictionary of passwords can be tried once the hashes are known. */
export const isWeakHash = (kind: PasswordHashKind): boolean =>
  kind !== "bcrypt" && kind !== "sha256" && kind !== "sha512";

const minBcryptCost = 4;
/** The maximum cost, about a second of processor time; each step doubles it. */
const maxBcryptCost = 14;
const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** The characters of a salt that `crypt` accepts: printable ASCII without `$` and `:`. */
const salt = "[!-#%-9;-~]";
const md5 = new RegExp(`^\\$(?:1|apr1)\\$${salt}{0,8}\\$[./A-Za-z0-9]{22}$`);
const sha2 = new RegExp(`^\\$([56])\\$(?:rounds=(\\d{1,9})\\$)?${salt}{0,16}\\$([./A-Za-z0-9]+)$`);
/** Number of characters of the hash after the salt. */
const sha2Lengths = { 5: 43, 6: 86 } as const;
const minSha2Rounds = 1_000;
/** The maximum number of rounds, about half a second of processor time. */
const maxSha2Rounds = 100_000;

const sha1 = /^\{SHA\}[A-Za-z0-9+/]{27}=$/;
/** A salted hash: 20 octets of hash and at most 64 of salt. */
const ssha1 = /^\{SSHA\}(?=[A-Za-z0-9+/]{27})[A-Za-z0-9+/]{27,112}={0,2}$/;
const des = /^[./A-Za-z0-9]{13}$/;

/** Returns the kind of a hash. The error describes why the hash is not used, and never contains it. */
export function readPasswordHash(hash: string): Result<PasswordHashKind> {
  if (hash.startsWith("$2")) return readBcrypt(hash);
  if (hash.startsWith("$1$") || hash.startsWith("$apr1$")) {
    return md5.test(hash) ? ok("md5") : problem("malformed MD5 hash");
  }
  if (hash.startsWith("$5$") || hash.startsWith("$6$")) return readSha2(hash);
  if (hash.startsWith("{SHA}")) return sha1.test(hash) ? ok("sha1") : problem("malformed {SHA} hash");
  if (hash.startsWith("{SSHA}")) return ssha1.test(hash) ? ok("ssha1") : problem("malformed {SSHA} hash");
  if (hash.startsWith("{PLAIN}")) return ok("plain");
  return problem(des.test(hash) ? "DES hash, which is not supported" : "hash of an unknown form");
}

function readBcrypt(hash: string): Result<PasswordHashKind> {
  const cost = bcrypt.exec(hash)?.[1];
  if (cost === undefined) return problem("malformed bcrypt hash");
  return Number(cost) >= minBcryptCost && Number(cost) <= maxBcryptCost
    ? ok("bcrypt")
    : problem(`bcrypt cost outside ${minBcryptCost} to ${maxBcryptCost}`);
}

function readSha2(hash: string): Result<PasswordHashKind> {
  const [, kind, rounds = "5000", text = ""] = sha2.exec(hash) ?? [];
  if (kind === undefined || text.length !== sha2Lengths[kind === "5" ? 5 : 6]) {
    return problem("malformed SHA-2 hash");
  }
  if (rounds.startsWith("0") || Number(rounds) < minSha2Rounds || Number(rounds) > maxSha2Rounds) {
    return problem(`SHA-2 rounds outside ${minSha2Rounds} to ${maxSha2Rounds}`);
  }
  return ok(kind === "5" ? "sha256" : "sha512");
}
