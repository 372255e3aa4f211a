import { createHash } from "node:crypto";
import { encodeCrypt64 } from "./base64.ts";

const rounds = 1_000;
const order = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5], [11]] as const;
const zero = Buffer.of(0);

/**
 * The MD5 hash of `crypt` (FreeBSD's crypt-md5.c), and Apache's, which differs in its magic only (apr_md5.c). `hash`
 * has the form `$1$salt$…` or `$apr1$salt$…`; so does the result.
 */
export function md5Crypt(password: Buffer, hash: string): string {
  const [, name = "", saltText = ""] = hash.split("$", 3);
  const magic = `$${name}$`;
  const salt = Buffer.from(saltText, "latin1");
  const inner = md5(password, salt, password);
  const parts: Buffer[] = [password, Buffer.from(magic), salt];
  for (let left = password.length; left > 0; left -= 16) parts.push(inner.subarray(0, Math.min(16, left)));
  for (let bits = password.length; bits > 0; bits >>= 1) {
    parts.push((bits & 1) === 1 ? zero : password.subarray(0, 1));
  }
  let digest = md5(...parts);
  for (let round = 0; round < rounds; round++) {
    const isOdd = (round & 1) === 1;
    const input: Buffer[] = [isOdd ? password : digest];
    if (round % 3 !== 0) input.push(salt);
    if (round % 7 !== 0) input.push(password);
    input.push(isOdd ? digest : password);
    digest = md5(...input);
  }
  return `${magic}${saltText}$${encodeCrypt64(digest, order)}`;
}

function md5(...parts: readonly Buffer[]): Buffer {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
