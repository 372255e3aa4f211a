import { constants } from "node:crypto";
import { createSecureContext, type TlsOptions } from "node:tls";
import type { ClientPolicy } from "./client-validation.ts";

export type TlsSettings = {
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** Limit of the time from accepting a connection to the end of its handshake, in milliseconds, 0 = no limit. */
  readonly handshakeTimeoutMs: number;
  /** The most handshakes under way at a time, counted from their ClientHello. */
  readonly maxHandshakes: number;
};

/**
 * Cipher suites towards clients and upstreams, all with forward secrecy and authenticated encryption. ECDSA is first,
 * because it is cheaper to sign.
 */
export const tlsSuites = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/** Signature algorithms. Their order decides which of two certificates the server presents; SHA-1 is omitted. */
const signatures = [
  "ecdsa_secp256r1_sha256",
  "ecdsa_secp384r1_sha384",
  "ecdsa_secp521r1_sha512",
  "ed25519",
  "rsa_pss_rsae_sha256",
  "rsa_pss_rsae_sha384",
  "rsa_pss_rsae_sha512",
  "rsa_pss_pss_sha256",
  "rsa_pss_pss_sha384",
  "rsa_pss_pss_sha512",
  "rsa_pkcs1_sha256",
  "rsa_pkcs1_sha384",
  "rsa_pkcs1_sha512",
];

/** How long a session may be resumed, which is the time for which two older ticket keys are kept, twelve hours each. */
const sessionSeconds = 86_400;

/** The longest delay of a timer, used for no limit, because Node replaces 0 by its default of two minutes. */
const maxTimerMs = 2 ** 31 - 1;

/** Returns the options that all TLS servers have in common (docs/features/tls.md, "Protocol"). */
export function commonTlsOptions(settings: TlsSettings): TlsOptions & { readonly ALPNProtocols: string[] } {
  return {
    minVersion: settings.minVersion,
    maxVersion: "TLSv1.3",
    ciphers: tlsSuites,
    sigalgs: signatures.join(":"),
    honorCipherOrder: true,
    // A client that prefers ChaCha20 has no fast AES, and gets ChaCha20 regardless of the server's order.
    secureOptions: constants.SSL_OP_PRIORITIZE_CHACHA | constants.SSL_OP_NO_RENEGOTIATION,
    ALPNProtocols: ["h2", "http/1.1"],
    // By default, all authorities of the system would be loaded.
    ca: [],
    // Node's limit restarts with each byte; the effective one is in handshake-places.ts.
    handshakeTimeout: settings.handshakeTimeoutMs === 0 ? maxTimerMs : 2 * settings.handshakeTimeoutMs,
    sessionTimeout: sessionSeconds,
  };
}

/**
 * Adds the options of a server that requests client certificates (docs/features/auth-tls.md). Certificates are checked
 * on each connection, so no session is resumed: without tickets TLS 1.2 issues none, and TLS 1.3 only references to
 * sessions, which are not stored. OpenSSL verifies the certificates; client-validation.ts then decides which clients
 * are refused, and with which alert.
 */
export function clientValidationOptions(
  { mode, deferred, forward, authorities }: ClientPolicy,
  options: TlsOptions,
): TlsOptions {
  // A client certificate need not be verified if it is neither refused nor forwarded to an upstream. Verification can
  // abort a handshake if the certificate's issuer has the name of an authority but another RSA key, and the client
  // sends its messages separately: the failed signature stays in OpenSSL's error queue, where Node mistakes it for a
  // failure of the connection.
  const isVerified = mode === "require" || deferred || forward;
  const strict = {
    ...options,
    ca: isVerified ? [...authorities] : [],
    secureOptions: (options.secureOptions ?? 0) | constants.SSL_OP_NO_TICKET,
  };
  // Intermediate authorities are trust anchors, too. A server does not pass this option to its context, but accepts a
  // context.
  const context = createSecureContext({ ...strict, allowPartialTrustChain: true });
  return {
    ...strict,
    requestCert: true,
    rejectUnauthorized: false,
    SNICallback: (_, answer) => answer(null, context),
  };
}
