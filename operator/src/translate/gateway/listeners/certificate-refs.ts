/** The certificates that a listener names. See docs/gateway-api.md, "Certificates". */
import type { GatewayListenerTlsCertificateRef as CertificateRef } from "../../../api/generated/gateway.ts";
import { servedCertificate } from "../../certificates/last-good.ts";
import { unknownTlsSecret, type TlsCertificate } from "../../certificates/tls-secret.ts";
import { formatTime } from "../../certificates/validity.ts";
import { reasonAt, type ConditionReason } from "../../condition.ts";
import { describeKept } from "../../diagnostics/certificates.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import type { View } from "../../incremental/view.ts";
import { noGrant, type Referrer } from "../../reference-grants.ts";
import { quoteKind } from "../../text.ts";

export type ResolvedCertificates = {
  /**
   * The certificates that can be served, including the last valid ones of Secrets that have become unusable.
   * Faulty references do not prevent the others from being served.
   */
  readonly certificates: readonly TlsCertificate[];
  /** The fault of the first reference that cannot be resolved, or whose Secret has become unusable. */
  readonly refusal: ConditionReason | undefined;
};

/**
 * Resolves every reference. Secrets of other namespaces require a ReferenceGrant. `fieldOf` returns the field
 * of a reference by its index.
 */
export function resolveCertificates(
  refs: readonly CertificateRef[],
  owner: Referrer,
  view: View,
  fieldOf: (index: number) => string,
): ResolvedCertificates {
  const certificates: TlsCertificate[] = [];
  let refusal: ConditionReason | undefined;
  for (const [index, ref] of refs.entries()) {
    const resolved = resolve(ref, owner, view);
    if (resolved.refusal !== undefined) refusal ??= reasonAt(fieldOf(index), resolved.refusal);
    if (resolved.certificate !== undefined) certificates.push(resolved.certificate);
  }
  return { certificates, refusal };
}

type Resolved = { readonly certificate?: TlsCertificate; readonly refusal?: ConditionReason };

function resolve(ref: CertificateRef, owner: Referrer, view: View): Resolved {
  const { group = "", kind = "Secret", name, namespace = owner.namespace } = ref;
  if (group !== "" || kind !== "Secret") {
    return invalid(`${quoteKind({ group, kind })} is not a kind that holds certificates, expected Secret`);
  }
  const named = `Secret ${namespace}/${name}`;
  if (!view.permits(owner, { kind: "Secret", namespace, name })) {
    return { refusal: { reason: "RefNotPermitted", message: noGrant(namespace, owner, named) } };
  }
  const secret = view.lookup("Secret", namespace, name);
  if (secret === undefined) return invalid(unknownTlsSecret(named));
  const served = servedCertificate(secret);
  if (!served.ok) return invalid(`${named}: ${describeProblem(served.error)}`);
  const { certificate, unusableUpdate } = served.value;
  if (unusableUpdate === undefined) return { certificate };
  const kept = describeKept(`${namespace}/${name}`, unusableUpdate, formatTime(certificate.notAfterMs));
  return { certificate, ...invalid(kept) };
}

const invalid = (message: string): Resolved => ({
  refusal: { reason: "InvalidCertificateRef", message },
});
