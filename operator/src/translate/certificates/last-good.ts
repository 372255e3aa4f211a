/**
 * Certificates that stay in service after their Secret became unusable (docs/features/tls.md). The keeper in
 * front of the translation decides which ones (build/certificate-keeper.ts). Here a Secret carries its last
 * certificate with it, so that equal Worlds give equal results.
 */
import { ok, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { readTlsSecret, type TlsCertificate } from "./tls-secret.ts";

type Secret = ObjectOf<"Secret">;

const carried = new WeakMap<Secret, TlsCertificate>();
const served = new WeakSet<Secret>();

/** Returns a copy of the Secret that carries the certificate that the Secret contained before. */
export function withLastGood(secret: Secret, certificate: TlsCertificate): Secret {
  const copy = { ...secret };
  carried.set(copy, certificate);
  return copy;
}

/** Whether a translation has served a certificate of this Secret. */
export const wasServed = (secret: Secret): boolean => served.has(secret);

/**
 * A certificate to serve. `unusableUpdate` is the reason why the Secret itself cannot be used; the certificate
 * is then the previous one.
 */
export type ServedCertificate = {
  readonly certificate: TlsCertificate;
  readonly unusableUpdate?: Problem;
};

/** The certificate of a Secret, or its last usable one. */
export function servedCertificate(secret: Secret): Result<ServedCertificate> {
  served.add(secret);
  const own = readTlsSecret(secret);
  if (own.ok) return ok({ certificate: own.value });
  const last = carried.get(secret);
  return last === undefined ? own : ok({ certificate: last, unusableUpdate: own.error });
}
