/** The certificate that a Gateway presents to backends with TLS (GEP-3155). See docs/features/backend-tls.md. */
import { backendCertificateKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { nameOf, refOf } from "../../../api/object.ts";
import type { ConditionReason } from "../../condition.ts";
import type { View } from "../../incremental/view.ts";
import { resolveCertificates } from "../listeners/certificate-refs.ts";

export type GatewayCertificate = {
  /** The resource. It has no certificate if there is a refusal; backends with TLS are then not connected to. */
  readonly resource: Resource;
  /**
   * Replaces the resource if the certificate is left out of a snapshot. It has no certificate, with the same effect.
   */
  readonly withheld: Resource;
  /** The size of the certificate in bytes. */
  readonly bytes: number;
  readonly refusal: ConditionReason | undefined;
};

/** The name by which host tables refer to the certificate of a Gateway; undefined if it presents none. */
export const backendCertificateName = (gateway: ObjectOf<"Gateway">): string | undefined =>
  gateway.spec.tls?.backend?.clientCertificateRef === undefined ? undefined : nameOf(refOf(gateway));

/** Reads the client certificate of a Gateway; returns undefined if the Gateway names none. */
export function readBackendCertificate(
  gateway: ObjectOf<"Gateway">,
  view: View,
): GatewayCertificate | undefined {
  const ref = gateway.spec.tls?.backend?.clientCertificateRef;
  const name = backendCertificateName(gateway);
  if (ref === undefined || name === undefined) return undefined;
  const from = { kind: "Gateway", namespace: gateway.metadata.namespace } as const;
  const { certificates, refusal } = resolveCertificates(
    [ref],
    from,
    view,
    () => "spec.tls.backend.clientCertificateRef",
  );
  const certificate = certificates[0]?.value;
  const key = backendCertificateKey(name);
  return {
    resource: encodeResource(key, certificate === undefined ? {} : { certificate }),
    withheld: encodeResource(key, {}),
    bytes: certificate === undefined ? 0 : certificate.chainPem.length + certificate.keyPem.length,
    refusal:
      refusal?.reason === "InvalidCertificateRef"
        ? { ...refusal, reason: "InvalidClientCertificateRef" }
        : refusal,
  };
}
