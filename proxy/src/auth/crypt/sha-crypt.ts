import { createHash } from "node:crypto";
import { encodeCrypt64 } from "./base64.ts";

const defaultRounds = 5_000;

const orders = {
  sha256: [
    ...[
      [0, 10, 20],
      [21, 1, 11],
      [12, 22, 2],
      [3, 13, 23],
      [24, 4, 14],
    ],
    ...[
      [15, 25, 5],
      [6, 16, 26],
      [27, 7, 17],
      [18, 28, 8],
      [9, 19, 29],
      [31, 30],
    ],
  ],
  sha512: [
    ...[
      [0, 21, 42],
      [22, 43, 1],
      [44, 2, 23],
      [3, 24, 45],
      [25, 46, 4],
      [47, 5, 26],
      [6, 27, 48],
    ],
    ...[
      [28, 49, 7],
      [50, 8, 29],
      [9, 30, 51],
      [31, 52, 10],
      [53, 11, 32],
      [12, 33, 54],
      [34, 55, 13],
    ],
    ...[
      [56, 14, 35],
      [15, 36, 57],
      [37, 58, 16],
      [59, 17, 38],
      [18, 39, 60],
      [40, 61, 19],
      [62, 20, 41],
      [63],
    ],
  ],
} as const;

/**
 * The SHA-2 hashes of `crypt` ("Unix crypt using SHA-256 and SHA-512", Drepper 2008). `hash` has the form
 * `$5$[rounds=n$]salt$…` or `$6$…`; so does the result. The cost grows with the number of rounds and the length of the
 * password: callers must bound both.
 */
export function shaCrypt(password: Buffer, hash: string): string {
  const algorithm = hash.startsWith("$5$") ? "sha256" : "sha512";
  const digest = (...parts: readonly Buffer[]): Buffer => {
    const state = createHash(algorithm);
    for (const part of parts) state.update(part);
    return state.digest();
  };
  const fields = hash.split("$");
  const given = /^rounds=(\d+)$/.exec(fields[2] ?? "")?.[1];
  const rounds = given === undefined ? defaultRounds : Number(given);
  const head = fields.slice(0, given === undefined ? 3 : 4).join("$");
  const salt = Buffer.from(fields[given === undefined ? 2 : 3] ?? "", "latin1");

  const inner = digest(password, salt, password);
  const parts: Buffer[] = [password, salt, repeated(inner, password.length)];
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push((bits & 1) === 1 ? inner : password);
  let last = digest(...parts);
  const p = repeated(digest(...times(password, password.length)), password.length);
  const s = repeated(digest(...times(salt, 16 + (last[0] ?? 0))), salt.length);
  for (let round = 0; round < rounds; round++) {
    const isOdd = (round & 1) === 1;
    const input: Buffer[] = [isOdd ? p : last];
    if (round % 3 !== 0) input.push(s);
    if (round % 7 !== 0) input.push(p);
    input.push(isOdd ? last : p);
    last = digest(...input);
  }
  return `${head}$${encodeCrypt64(last, orders[algorithm])}`;
}

/** Repeats a digest up to the given length in octets. */
function repeated(digest: Buffer, length: number): Buffer {
  const octets = Buffer.alloc(length);
  if (length > 0) octets.fill(digest);
  return octets;
}

const times = (octets: Buffer, count: number): readonly Buffer[] =>
  Array.from({ length: count }, () => octets);
