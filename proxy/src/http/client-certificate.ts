import type { TLSSocket } from "node:tls";
import { escapeComponent, escapeOctet } from "@svc-gateway/common/values/percent-escapes.ts";
import type { ClientConnection, ClientIdentity, VerifiedClient } from "../exchange/client-connection.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { Fields } from "../message/fields.ts";
import type { HeaderList } from "../message/message.ts";
import { type ClientPolicy, type DemandedRules, isProvenBy } from "../tls/client-validation.ts";

export const clientCertificateHeader = "X-SSL-Client-Cert";

/** Returns the verified client of a connection, with its certificate encoded once; undefined without a policy. */
export function verifiedClientOf(
  socket: TLSSocket,
  policy: ClientPolicy | undefined,
  verification?: string,
): VerifiedClient | undefined {
  if (policy === undefined) return undefined;
  const isValid = verification === undefined ? socket.authorized : verification === "SUCCESS";
  const leaf = policy.forward && isValid ? socket.getPeerX509Certificate() : undefined;
  return {
    policy,
    encodedCertificate: leaf === undefined ? "" : encodeAll(leaf.toString()),
    ...(verification !== undefined && { identity: identityOf(socket, verification) }),
  };
}

function identityOf(socket: TLSSocket, verification: string): ClientIdentity {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return { verification, subject: "", issuer: "", certificate: "" };
  return {
    verification,
    subject: distinguishedName(leaf.subject),
    issuer: distinguishedName(leaf.issuer),
    certificate: escapeComponent(leaf.toString()),
  };
}

/**
 * Converts a name as Node writes it, with one escaped attribute per line, to the form of RFC 2253: in reverse order,
 * and with characters outside of ASCII as escaped octets.
 */
const distinguishedName = (lines: string): string =>
  lines
    .split("\n")
    .toReversed()
    .join(",")
    .replaceAll(/[^ -~]/gu, (char) =>
      [...Buffer.from(char)]
        .map((octet) => `\\${octet.toString(16).toUpperCase().padStart(2, "0")}`)
        .join(""),
    );

/** Returns the reply to a client that a host does not admit; undefined if it is admitted, or the handshake decided. */
export function refusalByRequest(
  { tls }: ClientConnection,
  { byRequest, policyId }: DemandedRules,
): LocalReply | undefined {
  if (byRequest === undefined) return undefined;
  if (policyId === undefined || tls === undefined) return closedHost;
  const { verification, subject } = tls.client?.identity ?? noIdentity;
  const { mode, matches } = byRequest;
  const isAdmitted =
    mode === "optional_no_ca" ||
    verification === "SUCCESS" ||
    (mode === "optional" && verification === "NONE");
  if (!isAdmitted) return verification === "NONE" ? noCertificate : badCertificate;
  return matches?.(subject) === false ? otherSubject : undefined;
}

const noIdentity: ClientIdentity = { verification: "NONE", subject: "", issuer: "", certificate: "" };
const closedHost: LocalReply = { status: 403, error: "client certificates cannot be verified" };
const noCertificate: LocalReply = {
  status: 400,
  body: "400 Bad Request\nNo required SSL certificate was sent\n",
  error: "no client certificate",
};
const badCertificate: LocalReply = {
  status: 400,
  body: "400 Bad Request\nThe SSL certificate error\n",
  error: "client certificate refused",
};
const otherSubject: LocalReply = {
  status: 403,
  body: "client certificate unauthorized\n",
  error: "client certificate of another subject",
};

/** The fields about the client's certificate that ingress-nginx sends upstream. */
export function identityFieldsOf({ tls }: ClientConnection, rules: DemandedRules | undefined): HeaderList {
  const identity = tls?.client?.identity;
  if (identity === undefined || rules?.byRequest === undefined) return [];
  const { verification, subject, issuer, certificate } = identity;
  const fields: HeaderList = ["ssl-client-verify", verification];
  if (subject !== "") fields.push("ssl-client-subject-dn", subject);
  if (issuer !== "") fields.push("ssl-client-issuer-dn", issuer);
  if (certificate !== "" && rules.forward) fields.push("ssl-client-cert", certificate);
  return fields;
}

/** The names of these fields; those that a client sends itself are removed. */
export const identityFieldNames: readonly string[] = [
  "ssl-client-cert",
  "ssl-client-verify",
  "ssl-client-subject-dn",
  "ssl-client-issuer-dn",
];

/** Percent-encodes every character except ASCII letters and digits. */
const encodeAll = (text: string): string => text.replaceAll(/[^A-Za-z0-9]/g, escapeOctet);

/**
 * Reports whether a request under these rules must not use this connection (RFC 9110 15.5.20). Always false over plain
 * HTTP, and if no connection can fulfil the rules and `refusalByRequest` answers such requests.
 */
export const isUnproven = ({ tls }: ClientConnection, rules: DemandedRules | undefined): boolean =>
  rules !== undefined &&
  tls !== undefined &&
  !(rules.byRequest !== undefined && rules.policyId === undefined) &&
  !isProvenBy(tls.client?.policy, rules);

/** Adds the client's certificate to requests for hosts that forward it. */
export function addClientCertificate(
  headers: Fields,
  { tls }: ClientConnection,
  rules: DemandedRules | undefined,
): void {
  const encoded = tls?.client?.encodedCertificate ?? "";
  if (encoded !== "" && rules?.forward === true) headers.append(clientCertificateHeader, encoded);
}
