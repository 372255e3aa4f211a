/** Findings about Secrets with certificates, and about the hosts that use them. */
import type { Problem } from "@svc-gateway/common/values/result.ts";
import { formatRef, type ObjectRef } from "../../api/object.ts";
import { unknownTlsSecret } from "../certificates/tls-secret.ts";
import type { Diagnostic } from "../finding.ts";
import { describeProblem, finding, type Place } from "./define-finding.ts";

export const secretNotFound = (place: Place, secret: string): Diagnostic =>
  finding("error", "SecretNotFound")(
    place,
    `${unknownTlsSecret(`Secret ${secret}`)}; its hosts are served without that certificate`,
  );

export const invalidCertificate = (place: Place, secret: string, problem: Problem): Diagnostic =>
  finding("error", "InvalidCertificate")(
    place,
    `Secret ${secret}: ${describeProblem(problem)}; its hosts are served without that certificate`,
  );

/** `until` is the time at which the certificate expires. */
export const lastCertificateKept = (
  place: Place,
  secret: string,
  problem: Problem,
  until: string,
): Diagnostic => finding("warning", "LastCertificateKept")(place, describeKept(secret, problem, until));

export const describeKept = (secret: string, problem: Problem, until: string): string =>
  `Secret ${secret} can no longer be used: ${describeProblem(problem)}; its last certificate is served until ${until} or a restart`;

export const certificateConflict = (place: Place, host: string, owner: ObjectRef): Diagnostic =>
  finding("error", "CertificateConflict")(
    place,
    `The certificate is not used for host ${host}, whose TLS belongs to ${formatRef(owner)}`,
  );

export const certificateHostMismatch = (place: Place, secret: string, host: string): Diagnostic =>
  finding("warning", "CertificateHostMismatch")(
    place,
    `The certificate of Secret ${secret} is not valid for host ${host}; clients will reject it`,
  );

export const certificateExpired = (place: Place, at: string): Diagnostic =>
  finding("warning", "CertificateExpired")(
    place,
    `The certificate expired at ${at}; it is still served, but clients will reject it`,
  );

export const certificateNotYetValid = (place: Place, at: string): Diagnostic =>
  finding("warning", "CertificateNotYetValid")(
    place,
    `The certificate is not valid before ${at}; it is served, but clients will reject it`,
  );

export const noSecretName = (place: Place): Diagnostic =>
  finding("info", "NoSecretName")(
    place,
    "The TLS entry names no Secret; the default certificate is served, if there is one",
  );
