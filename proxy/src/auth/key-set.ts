import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { KeySet, PublicKey } from "@svc-gateway/common/ir/credentials.ts";
import { refuseKey } from "@svc-gateway/common/ir/verification-key.ts";

/** A key, with the only algorithm for which it is used. */
export type VerificationKey = {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly key: KeyObject;
};

/** The keys of one jwks resource, ready for checks; a changed resource is another object. */
export type VerificationKeys = {
  readonly source: string | undefined;
  /** Keys without a `kid` first. */
  readonly keys: readonly VerificationKey[];
};

/**
 * Imports the keys of a resource. `keys` is undefined until the controller has fetched them; until then, the keys of
 * `previous` from the same source are kept, so that a controller that starts while the source is down breaks no route.
 */
export function createVerificationKeys(
  { source, keys }: KeySet,
  previous: VerificationKeys | undefined,
): VerificationKeys {
  if (keys === undefined) {
    return source !== undefined && previous?.source === source ? previous : { source, keys: [] };
  }
  const usable = keys.flatMap((key) => importKey(key) ?? []);
  const unnamedFirst = usable.toSorted((a, b) => Number(a.kid !== undefined) - Number(b.kid !== undefined));
  return { source, keys: unnamedFirst };
}

/** Imports a key; undefined if it is unusable or too expensive, which the controller has already reported. */
function importKey(key: PublicKey): VerificationKey | undefined {
  if (refuseKey(key) !== undefined) return undefined;
  try {
    return {
      alg: key.alg,
      kid: key.kid,
      key: createPublicKey({ key: { ...key } as JsonWebKey, format: "jwk" }),
    };
  } catch {
    return undefined;
  }
}
