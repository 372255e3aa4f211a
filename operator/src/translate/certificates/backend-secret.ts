/** A Secret for connections to backends with TLS. See docs/features/backend-policy.md, "Ports". */
import type { Certificate } from "@svc-gateway/common/ir/certificate.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { readSecretValue } from "../../api/secret-value.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { bundleKey, readBundle } from "./authorities.ts";
import { readKeyPair } from "./tls-secret.ts";

export type BackendSecret = {
  /** The trusted authorities as PEM. */
  readonly authorities?: string;
  /** The certificate to present to backends. */
  readonly certificate?: Certificate;
};

/**
 * Reads `ca.crt`, and `tls.crt` with `tls.key`, of a Secret of any type. One of the two is enough. The error
 * describes the fault of the Secret.
 */
export function readBackendSecret(secret: ObjectOf<"Secret">): Result<BackendSecret> {
  const text = readSecretValue(secret, bundleKey);
  const bundle =
    text.ok && text.value !== undefined ? readBundle(text.value.toString("latin1"), bundleKey) : undefined;
  const hasPair = secret.data?.["tls.crt"] !== undefined || secret.data?.["tls.key"] !== undefined;
  const pair = hasPair ? readKeyPair(secret) : undefined;
  for (const part of [text, bundle, pair]) {
    if (part?.ok === false) return problem(`cannot be used: ${describeProblem(part.error)}`);
  }
  if (bundle === undefined && pair === undefined) {
    return problem(`holds neither ${bundleKey} nor tls.crt and tls.key`);
  }
  return ok({
    ...(bundle?.ok === true && { authorities: bundle.value }),
    ...(pair?.ok === true && { certificate: pair.value.value }),
  });
}
