/** A JWK Set as keys to check signatures with. See docs/features/auth-jwt.md, "Keys". */
import { createPublicKey, type JsonWebKey } from "node:crypto";
import type { PublicKey } from "@svc-gateway/common/ir/credentials.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { compareText } from "../age.ts";

export type UsableKeys = {
  /** Sorted, each once, so that equal sets give equal snapshots whatever their order. */
  readonly keys: readonly PublicKey[];
  /** How many of the set are not used, because of their type, use, algorithm or strength. */
  readonly unusable: number;
};

const maxKeys = 100;
const minRsaBits = 2048;
const rsaAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const curveAlgorithms: Readonly<Record<string, string>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
};

type Written = { readonly [member: string]: unknown };

/** Reads a JWK Set (RFC 7517 section 5). The error says why no token can be checked with it. */
export function readKeySet(value: unknown): Result<UsableKeys> {
  const list = isObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(list)) return problem("it is no JWK Set", 'an object with a list named "keys"');
  if (list.length > maxKeys) return problem(`it has ${list.length} keys`, `at most ${maxKeys}`);
  const byText = new Map<string, PublicKey>();
  let unusable = 0;
  for (const written of list as readonly unknown[]) {
    const key = isObject(written) ? readKey(written) : undefined;
    if (key === undefined) unusable++;
    else byText.set(JSON.stringify(key), key);
  }
  if (byText.size === 0) return problem(`it has no usable key among ${list.length}`);
  const keys = [...byText].sort(([a], [b]) => compareText(a, b)).map(([, key]) => key);
  return ok({ keys, unusable });
}

const isObject = (value: unknown): value is Written =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The public members of a key, in a fixed order; undefined for a key that no accepted signature can be made with. */
function readKey(written: Written): PublicKey | undefined {
  const { use, key_ops: operations } = written;
  if (use !== undefined && use !== "sig") return undefined;
  if (Array.isArray(operations) && !operations.includes("verify")) return undefined;
  const alg = algorithmOf(written);
  if (alg === undefined) return undefined;
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
  return isStrong(key) ? key : undefined;
}

/** The algorithm that a key is used with: its own if its type allows it, else the one that its type implies. */
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

/** OpenSSL says whether it is a key at all. */
function isStrong(key: PublicKey): boolean {
  try {
    const { asymmetricKeyDetails, asymmetricKeyType } = createPublicKey({
      // The members of each type are those of RFC 7518.
      key: { ...key } as JsonWebKey,
      format: "jwk",
    });
    return asymmetricKeyType !== "rsa" || (asymmetricKeyDetails?.modulusLength ?? 0) >= minRsaBits;
  } catch {
    return false;
  }
}
