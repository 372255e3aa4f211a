import { constants, createHash } from "node:crypto";
import { createSecureContext, getCACertificates, type ConnectionOptions, type SecureContext } from "node:tls";
import {
  systemAuthorities,
  type BackendCertificate,
  type BackendTls,
} from "@svc-gateway/common/ir/backend-tls.ts";
import { tlsSuites } from "../../tls/server-options.ts";
import { createNameCheck } from "./peer-names.ts";

/** How connections to an endpoint use TLS; created once per policy and client certificate, and immutable. */
export type UpstreamTls =
  | {
      /** For SNI (RFC 6066 section 3); empty: none is sent. */
      readonly serverName: string;
      readonly context: SecureContext;
      /** Whether a certificate that was verified belongs to the backend; undefined: any certificate is accepted. */
      readonly checkServerIdentity: NonNullable<ConnectionOptions["checkServerIdentity"]> | undefined;
    }
  /** Connections are refused; the text is the reason. */
  | { readonly refused: string };

/** The contexts of policies and client certificates, each created once: a large bundle takes milliseconds to load. */
export type SecureContexts = (
  authorities: string,
  certificate: BackendCertificate["certificate"],
) => SecureContext;

/**
 * Combines a policy and the client certificate of a Gateway. Without a usable policy or certificate, connections are
 * refused (docs/features/backend-tls.md, "Fail closed").
 */
export function createUpstreamTls(
  policy: BackendTls | undefined,
  client: BackendCertificate | undefined,
  contexts: SecureContexts,
): UpstreamTls {
  if (policy === undefined || !isUsable(policy)) return { refused: "upstream TLS policy not usable" };
  const shown = policy.certificate === undefined ? client : { certificate: policy.certificate };
  if (shown !== undefined && shown.certificate === undefined) {
    return { refused: "no valid client certificate for upstream" };
  }
  const isUnverified = policy.unverified === true;
  try {
    return {
      serverName: policy.hidesServerName === true ? "" : policy.hostname,
      context: contexts(
        isUnverified ? noAuthorities : (policy.authorities ?? noAuthorities),
        shown?.certificate,
      ),
      checkServerIdentity: isUnverified ? undefined : createNameCheck(policy),
    };
  } catch {
    // The controller has loaded both before it sent them, so its OpenSSL accepts what this one does not.
    return { refused: "certificates for upstream cannot be loaded" };
  }
}

/** A certificate can be verified, or expressly need not be. A policy that asks for both is a contradiction. */
const isUsable = ({ authorities, unverified, hostname, subjectAltNames }: BackendTls): boolean =>
  unverified === true
    ? authorities === undefined
    : authorities !== undefined && (hostname !== "" || subjectAltNames !== undefined);

const noAuthorities = "";

/**
 * Caches contexts by their content; one that no endpoint uses any more is garbage-collected after its last connection.
 */
export function createSecureContexts(): SecureContexts {
  const known = new Map<string, WeakRef<SecureContext>>();
  return (authorities, certificate) => {
    for (const [key, context] of known) if (context.deref() === undefined) known.delete(key);
    const key = createHash("sha256")
      .update(JSON.stringify([authorities, certificate?.chainPem, certificate?.keyPem]))
      .digest("hex");
    const present = known.get(key)?.deref();
    if (present !== undefined) return present;
    const context = createContext(authorities, certificate);
    known.set(key, new WeakRef(context));
    return context;
  };
}

const createContext = (authorities: string, certificate: BackendCertificate["certificate"]): SecureContext =>
  createSecureContext({
    ca: authorities === systemAuthorities ? systemRoots() : authorities === noAuthorities ? [] : authorities,
    ...(certificate && { cert: certificate.chainPem, key: certificate.keyPem }),
    minVersion: "TLSv1.2",
    maxVersion: "TLSv1.3",
    ciphers: tlsSuites,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // Every certificate of a bundle is an anchor, intermediate authorities and the backend's own included.
    allowPartialTrustChain: true,
  });

let roots: string[] | undefined;

/** The authorities of the operating system, else those that come with Node; read once, when first needed. */
function systemRoots(): string[] {
  if (roots === undefined) {
    const ofSystem = getCACertificates("system");
    roots = [...new Set(ofSystem.length > 0 ? ofSystem : getCACertificates("bundled"))];
  }
  return roots;
}
