/** Whether a password is the one of a hash. See docs/features/auth-basic-secret.md. */
import { createHash, timingSafeEqual } from "node:crypto";
import { compareSync } from "bcryptjs";
import { md5Crypt } from "./md5-crypt.ts";
import { shaCrypt } from "./sha-crypt.ts";

/** The work of `$5$` and `$6$` grows with the password: a longer one, in octets, matches none of them. */
const maxCryptPassword = 512;

/** Takes from microseconds to a second of a processor, so it runs on a thread of its own. A malformed hash throws or is false. */
export function matchesHash(password: string, hash: string): boolean {
  const octets = Buffer.from(password, "utf8");
  if (hash.startsWith("$2")) return compareSync(password, hash);
  if (hash.startsWith("$1$") || hash.startsWith("$apr1$")) return equal(md5Crypt(octets, hash), hash);
  if (hash.startsWith("$5$") || hash.startsWith("$6$")) {
    // The work is done all the same, so that the answer takes as long.
    const matches = equal(shaCrypt(octets.subarray(0, maxCryptPassword), hash), hash);
    return matches && octets.length <= maxCryptPassword;
  }
  if (hash.startsWith("{SSHA}")) return matchesSalted(octets, Buffer.from(hash.slice(6), "base64"));
  if (hash.startsWith("{SHA}")) return equal(`{SHA}${sha1(octets).toString("base64")}`, hash);
  return hash.startsWith("{PLAIN}") && equal(password, Buffer.from(hash.slice(7), "latin1").toString("utf8"));
}

const sha1 = (...parts: readonly Buffer[]): Buffer => {
  const hash = createHash("sha1");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** {SSHA}: the hash of password and salt, and behind it the salt (RFC 2307 5.3, Netscape's "Salted SHA"). */
function matchesSalted(password: Buffer, stored: Buffer): boolean {
  if (stored.length < 20) return false;
  return timingSafeEqual(sha1(password, stored.subarray(20)), stored.subarray(0, 20));
}

/** Compares digests of both, which have one length, so that the time says nothing about either. */
const equal = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));

const sha256 = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();
