/** The certificates that a listener names. See docs/gateway-api.md, "Certificates". */
import type { GatewayListenerTlsCertificateRef as CertificateRef } from "../../api/generated/gateway.ts";
import { readTlsSecret, type TlsCertificate } from "../certificates/tls-secret.ts";
import { refusedAt, type Refusal } from "../condition.ts";
import { describeProblem } from "../diagnostics.ts";
import { noGrant, type Referrer } from "../reference-grants.ts";
import { quoteKind } from "../text.ts";
import type { View } from "../view.ts";

export type ResolvedCertificates = {
  /** Those that can be served; the others do not keep them from it. */
  readonly certificates: readonly TlsCertificate[];
  /** What is wrong with the first one that cannot. */
  readonly refusal: Refusal | undefined;
};

/** Resolves every reference; Secrets of other namespaces need a ReferenceGrant. `fieldOf` names a reference by its index. */
export function resolveCertificates(
  refs: readonly CertificateRef[],
  owner: Referrer,
  view: View,
  fieldOf: (index: number) => string,
): ResolvedCertificates {
  const certificates: TlsCertificate[] = [];
  let refusal: Refusal | undefined;
  for (const [index, ref] of refs.entries()) {
    const resolved = resolve(ref, owner, view);
    if ("reason" in resolved) refusal ??= refusedAt(fieldOf(index), resolved);
    else certificates.push(resolved);
  }
  return { certificates, refusal };
}

function resolve(ref: CertificateRef, owner: Referrer, view: View): TlsCertificate | Refusal {
  const { group = "", kind = "Secret", name, namespace = owner.namespace } = ref;
  if (group !== "" || kind !== "Secret") {
    return invalid(`${quoteKind({ group, kind })} is no kind of certificate, expected Secret`);
  }
  const named = `Secret ${namespace}/${name}`;
  if (!view.permits(owner, { kind: "Secret", namespace, name })) {
    return { reason: "RefNotPermitted", message: noGrant(namespace, owner, named) };
  }
  const secret = view.lookup("Secret", namespace, name);
  if (secret === undefined) return invalid(`${named} does not exist`);
  const certificate = readTlsSecret(secret);
  return certificate.ok ? certificate.value : invalid(`${named}: ${describeProblem(certificate.error)}`);
}

const invalid = (message: string): Refusal => ({ reason: "InvalidCertificateRef", message });
