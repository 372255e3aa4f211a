import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { KeySet, PublicKey } from "@svc-gateway/common/ir/credentials.ts";
import { refuseKey } from "@svc-gateway/common/ir/verification-key.ts";

/** One key, with the one algorithm that it is used with. */
export type VerificationKey = {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly key: KeyObject;
};

/** The keys of one jwks resource, ready for checks; a changed resource is another object. */
export type VerificationKeys = {
  readonly source: string | undefined;
  /** Those without a name first. */
  readonly keys: readonly VerificationKey[];
};

/**
 * Makes keys ready. A resource without keys is one that its controller has not fetched yet: the keys of the same source
 * that `previous` had stay, so that a controller which starts while the source is away takes nothing from anybody.
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

/** Undefined for a key that cannot be used, or costs too much: the controller says so, the proxy does not rely on that. */
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
