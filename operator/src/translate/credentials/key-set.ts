/** Reads a JWK Set as keys for signatures. See docs/features/auth-jwt.md, "Keys". */
import { createPublicKey, type JsonWebKey } from "node:crypto";
import type { PublicKey } from "@svc-gateway/common/ir/credentials.ts";
import { maxTriedKeys, refuseKey } from "@svc-gateway/common/ir/verification-key.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { compareText } from "../age.ts";
import { memo } from "../incremental/memo.ts";
import { quote } from "../text.ts";

export type UsableKeys = {
  /** The keys, sorted and without duplicates, so that equal sets give equal snapshots in any order. */
  readonly keys: readonly PublicKey[];
  /** The faults of unusable keys of the set, each as a phrase that begins with the key. */
  readonly unusable: readonly string[];
};

const maxKeys = 100;
const rsaAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const curveAlgorithms: Readonly<Record<string, string>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
};

type Written = { readonly [member: string]: unknown };

/** Reads a JWK Set (RFC 7517 section 5). The error is the reason why no token can be checked with it. */
export function readKeySet(value: unknown): Result<UsableKeys> {
  const list = isObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(list)) return problem("it is not a JWK Set", 'an object with a list named "keys"');
  if (list.length > maxKeys) return problem(`it has ${list.length} keys`, `at most ${maxKeys}`);
  const byText = new Map<string, PublicKey>();
  const unusable: string[] = [];
  for (const [index, written] of (list as readonly unknown[]).entries()) {
    const key = isObject(written) ? readKey(written) : problem("is not an object");
    if (key.ok) byText.set(JSON.stringify(key.value), key.value);
    else unusable.push(`${nameOf(written, index)} ${key.error.message}`);
  }
  if (byText.size === 0) {
    return problem(unusable[0] === undefined ? "it holds no key" : `it holds no usable key: ${unusable[0]}`);
  }
  const keys = [...byText].sort(([a], [b]) => compareText(a, b)).map(([, key]) => key);
  return ok({ keys, unusable });
}

/** Describes the keys that are not used; undefined if all are. */
export function describeUnusable(unusable: readonly string[]): string | undefined {
  const [first, ...others] = unusable;
  if (first === undefined) return undefined;
  if (others.length === 0) return `${first}; it is ignored`;
  return `${first}; it is ignored, like ${others.length} more that cannot be used`;
}

/**
 * Describes the algorithms of which a set has more keys than are tried for a token without `kid`, and the kids
 * that are affected; undefined if every token can reach every key.
 */
export const describeUntried = memo((keys: UsableKeys["keys"]): string | undefined => {
  const crowded = [...Map.groupBy(keys, ({ alg }) => alg)].filter(([, all]) => all.length > maxTriedKeys);
  const parts = crowded.map(([alg, all]) => {
    const [same] = [...Map.groupBy(all, ({ kid }) => kid)].filter(
      ([, ofName]) => ofName.length > maxTriedKeys,
    );
    const sentence = `${all.length} keys are for ${alg}, and a token without kid is checked with ${maxTriedKeys} of them only`;
    if (same === undefined) return sentence;
    const [kid, { length }] = same;
    return `${sentence}; ${length} of them have ${kid === undefined ? "no kid" : `the kid ${quote(kid)}`}, so some are never used`;
  });
  return parts.length === 0 ? undefined : parts.join("; ");
});

const nameOf = (written: unknown, index: number): string => {
  const kid = isObject(written) ? textOf(written["kid"]) : undefined;
  return kid === undefined ? `key ${index + 1}` : `key ${index + 1} (${quote(kid)})`;
};

const isObject = (value: unknown): value is Written =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The public members of a key in a fixed order, or the reason why no accepted signature can be made with it. */
function readKey(written: Written): Result<PublicKey> {
  const { use, key_ops: operations } = written;
  if (use !== undefined && use !== "sig") return problem("is not meant for signatures (use)");
  if (Array.isArray(operations) && !operations.includes("verify")) {
    return problem("is not meant for verification (key_ops)");
  }
  const alg = algorithmOf(written);
  if (alg === undefined)
    return problem("is of a type, or for an algorithm, that is not accepted (kty, crv, alg)");
  const kid = textOf(written["kid"]);
  const common = { alg, ...(kid !== undefined && { kid }) };
  const { kty } = written;
  const [crv, x, y, n, e] = ["crv", "x", "y", "n", "e"].map((member) => textOf(written[member]));
  const key: PublicKey =
    kty === "RSA"
      ? { kty, ...common, ...(n !== undefined && { n }), ...(e !== undefined && { e }) }
      : {
          kty: kty === "EC" ? kty : "OKP",
          ...common,
          ...(crv !== undefined && { crv }),
          ...(x !== undefined && { x }),
          ...(kty === "EC" && y !== undefined && { y }),
        };
  const refusal = refuseKey(key) ?? (isKey(key) ? undefined : "is not a valid key");
  return refusal === undefined ? ok(key) : problem(refusal);
}

/**
 * The algorithm of a key: its own if its type allows that, otherwise the one that its type implies; undefined
 * if there is none.
 */
function algorithmOf({ kty, crv, alg }: Written): string | undefined {
  const allowed =
    kty === "RSA"
      ? rsaAlgorithms
      : kty === "EC"
        ? [curveAlgorithms[textOf(crv) ?? ""]]
        : kty === "OKP" && crv === "Ed25519"
          ? ["EdDSA"]
          : [];
  return alg === undefined ? allowed[0] : allowed.find((one) => one === alg);
}

/** Whether OpenSSL accepts the key. */
function isKey(key: PublicKey): boolean {
  try {
    // The members of each type are those of RFC 7518.
    createPublicKey({ key: { ...key } as JsonWebKey, format: "jwk" });
    return true;
  } catch {
    return false;
  }
}
