import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import type { BackendTls, SubjectAltName } from "@svc-gateway/common/ir/backend-tls.ts";
import { chainTooLong, nameMismatch } from "../upstream-errors.ts";

/** The name in the subject is ignored (RFC 9525 section 2); a wildcard matches one whole label. */
const dnsRules = {
  subject: "never",
  partialWildcards: false,
  multiLabelWildcards: false,
  singleLabelSubdomains: false,
} as const;

/**
 * Returns a check that a verified certificate belongs to the backend: it must contain one of `subjectAltNames`, or the
 * hostname if there are none. The check has the signature of `checkServerIdentity` of `tls.connect`.
 */
export function createNameCheck({
  hostname,
  subjectAltNames = [{ type: "dns", value: hostname }],
  maxIntermediates,
}: BackendTls): (host: string, certificate: PeerCertificate) => Error | undefined {
  return (_, peer) => {
    const { raw } = peer;
    if (maxIntermediates !== undefined && intermediatesOf(peer) > maxIntermediates) {
      return Object.assign(new Error("the chain of the certificate is too long"), { code: chainTooLong });
    }
    // Without a certificate `raw` is absent, although its type does not show it.
    const certificate = (raw as Buffer | undefined) && new X509Certificate(raw);
    if (certificate !== undefined && subjectAltNames.some((name) => hasName(certificate, name)))
      return undefined;
    return Object.assign(new Error("the certificate has none of the wanted names"), { code: nameMismatch });
  };
}

/** Counts the certificates between the backend's and the last one of its chain. A self-issued one refers to itself. */
function intermediatesOf(peer: PeerCertificate & { readonly issuerCertificate?: unknown }): number {
  let length = 0;
  let current: Linked | undefined = peer as Linked;
  while (current?.issuerCertificate !== undefined && current.issuerCertificate !== current) {
    length++;
    current = current.issuerCertificate;
  }
  return Math.max(0, length - 1);
}

type Linked = { readonly issuerCertificate?: Linked };

function hasName(certificate: X509Certificate, { type, value }: SubjectAltName): boolean {
  if (type === "uri") return namesOf(certificate, "URI").includes(value);
  if (!value.startsWith("*.")) return certificate.checkHost(value, dnsRules) !== undefined;
  // A wildcard accepts any first label in the certificate, including a wildcard.
  const wanted = value.slice(1).toLowerCase();
  return namesOf(certificate, "DNS").some((name) => {
    const dot = name.indexOf(".");
    return dot > 0 && name.slice(dot).toLowerCase() === wanted;
  });
}

const entry = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

/** Returns the subject alternative names of one type. Node writes those with unusual characters as JSON strings. */
function namesOf({ subjectAltName = "" }: X509Certificate, type: "DNS" | "URI"): readonly string[] {
  const names: string[] = [];
  for (const [, found, text = ""] of subjectAltName.matchAll(entry)) {
    if (found === type) names.push(text.startsWith('"') ? String(JSON.parse(text)) : text);
  }
  return names;
}
