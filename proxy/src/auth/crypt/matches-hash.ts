/** Compares passwords with hashes of all supported formats. See docs/features/auth-basic-secret.md. */
import { createHash, timingSafeEqual } from "node:crypto";
import { compareSync } from "bcryptjs";
import { md5Crypt } from "./md5-crypt.ts";
import { shaCrypt } from "./sha-crypt.ts";

/**
 * The maximum length of a password for `$5$` and `$6$`, whose cost grows with it, in octets; longer ones match none.
 */
const maxCryptPassword = 512;

/**
 * Reports whether a password has this hash. Takes from microseconds to a second of CPU time, so it runs on a dedicated
 * thread. For a malformed hash it throws or returns false.
 */
export function matchesHash(password: string, hash: string): boolean {
  const octets = Buffer.from(password, "utf8");
  if (hash.startsWith("$2")) return compareSync(password, hash);
  if (hash.startsWith("$1$") || hash.startsWith("$apr1$")) return equal(md5Crypt(octets, hash), hash);
  if (hash.startsWith("$5$") || hash.startsWith("$6$")) {
    // The hash of a password that is too long is computed, too, so that the answer takes the same time.
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

/** {SSHA}: the hash of password and salt, followed by the salt (RFC 2307 5.3, Netscape's "Salted SHA"). */
function matchesSalted(password: Buffer, stored: Buffer): boolean {
  if (stored.length < 20) return false;
  return timingSafeEqual(sha1(password, stored.subarray(20)), stored.subarray(0, 20));
}

/** Compares digests of both texts, which have equal lengths, so that the time reveals nothing about either. */
const equal = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));

const sha256 = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();
