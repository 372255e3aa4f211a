/**
 * The pod of a proxy in the subject of its certificate: `OU` is its name, `UID` its uid. They are not among the
 * alternative names, because controllers of older releases expect only the identity there. See docs/discovery.md,
 * "Identities".
 */
import type { WorkloadPod } from "@svc-gateway/proto/identity.ts";
import type { NameAttribute } from "./certificate-builder.ts";

const organizationalUnit = "2.5.4.11";
const userId = "0.9.2342.19200300.100.1.1";

export const podAttributes = (pod: WorkloadPod | undefined): readonly NameAttribute[] =>
  pod === undefined
    ? []
    : [
        [organizationalUnit, pod.name],
        [userId, pod.uid],
      ];

/** The subject of a certificate as parsed by Node.js; a repeated attribute is a list. */
export type CertificateSubject = Readonly<Record<string, string | string[] | undefined>>;

/** The pod in a subject; undefined if it names none. */
export function podOfSubject(subject: CertificateSubject | undefined): WorkloadPod | undefined {
  const { OU: name, UID: uid = "" } = subject ?? {};
  return typeof name === "string" && typeof uid === "string" ? { name, uid } : undefined;
}
