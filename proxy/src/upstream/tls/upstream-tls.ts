import { constants, createHash } from "node:crypto";
import { createSecureContext, getCACertificates, type ConnectionOptions, type SecureContext } from "node:tls";
import {
  systemAuthorities,
  type BackendCertificate,
  type BackendTls,
} from "@svc-gateway/common/ir/backend-tls.ts";
import { tlsSuites } from "../../tls/server-options.ts";
import { createNameCheck } from "./peer-names.ts";

/** The TLS settings of connections to an endpoint; created once per policy and client certificate, and immutable. */
export type UpstreamTls =
  | {
      /** The name in the SNI extension (RFC 6066 section 3), which is omitted if empty. */
      readonly serverName: string;
      readonly context: SecureContext;
      /** Checks that a verified certificate belongs to the backend; if undefined, every certificate is accepted. */
      readonly checkServerIdentity: NonNullable<ConnectionOptions["checkServerIdentity"]> | undefined;
    }
  /** Connections are refused; the text is the reason. */
  | { readonly refused: string };

/**
 * Returns the context of a bundle and a client certificate. Created once, as a large bundle takes milliseconds to load.
 */
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
    // The controller loaded both before it sent them, so its OpenSSL accepts something that this one does not.
    return { refused: "certificates for upstream cannot be loaded" };
  }
}

/** Reports whether a policy either defines how to verify certificates, or expressly disables that, but not both. */
const isUsable = ({ authorities, unverified, hostname, subjectAltNames }: BackendTls): boolean =>
  unverified === true
    ? authorities === undefined
    : authorities !== undefined && (hostname !== "" || subjectAltNames !== undefined);

const noAuthorities = "";

/** Caches contexts by content. A context that no endpoint uses is garbage-collected after its last connection. */
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
    // Every certificate of a bundle is a trust anchor, including intermediate authorities and the backend's own.
    allowPartialTrustChain: true,
  });

let roots: string[] | undefined;

/** Returns the authorities of the operating system, or those bundled with Node if there are none. Read once. */
function systemRoots(): string[] {
  if (roots === undefined) {
    const ofSystem = getCACertificates("system");
    roots = [...new Set(ofSystem.length > 0 ? ofSystem : getCACertificates("bundled"))];
  }
  return roots;
}
