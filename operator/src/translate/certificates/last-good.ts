/**
 * Certificates that stay in service after their Secret was changed into something that cannot be used (docs/features/tls.md).
 * Which ones these are is for the keeper in front of the translation to say (build/certificate-keeper.ts); here a Secret
 * carries the certificate with it, so that equal worlds give equal results.
 */
import { ok, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { readTlsSecret, type TlsCertificate } from "./tls-secret.ts";

type Secret = ObjectOf<"Secret">;

const carried = new WeakMap<Secret, TlsCertificate>();
const served = new WeakSet<Secret>();

/** The Secret with the certificate that it held before; an object of its own. */
export function withLastGood(secret: Secret, certificate: TlsCertificate): Secret {
  const copy = { ...secret };
  carried.set(copy, certificate);
  return copy;
}

/** Whether a translation has served a certificate of this Secret. */
export const wasServed = (secret: Secret): boolean => served.has(secret);

/** `unusableUpdate` is why the Secret itself cannot be used, where the certificate is the one that it held before. */
export type ServedCertificate = {
  readonly certificate: TlsCertificate;
  readonly unusableUpdate?: Problem;
};

/** The certificate of a Secret, or the last one that could be used. */
export function servedCertificate(secret: Secret): Result<ServedCertificate> {
  served.add(secret);
  const own = readTlsSecret(secret);
  if (own.ok) return ok({ certificate: own.value });
  const last = carried.get(secret);
  return last === undefined ? own : ok({ certificate: last, unusableUpdate: own.error });
}
