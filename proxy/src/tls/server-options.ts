import { constants } from "node:crypto";
import { createSecureContext, type TlsOptions } from "node:tls";
import type { ClientPolicy } from "./client-validation.ts";

export type TlsSettings = {
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** From accepting the connection to the end of the handshake, milliseconds, 0 = no limit. */
  readonly handshakeTimeoutMs: number;
  /** Handshakes under way at a time, counted from their ClientHello. */
  readonly maxHandshakes: number;
};

/**
 * Suites with forward secrecy and authenticated encryption only, towards clients and upstreams; ECDSA first, because it is
 * cheaper to sign.
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

/** The server's order decides which of two certificates is shown; SHA-1 is left out. */
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

/** How long a session may be resumed, which two older ticket keys, kept for twelve hours each, allow. */
const sessionSeconds = 86_400;

/** The longest time that a timer takes; Node reads 0 as its own default of two minutes. */
const maxTimerMs = 2 ** 31 - 1;

/** The options that all TLS servers have in common: docs/features/tls.md, "Protocol". */
export function commonTlsOptions(settings: TlsSettings): TlsOptions & { readonly ALPNProtocols: string[] } {
  return {
    minVersion: settings.minVersion,
    maxVersion: "TLSv1.3",
    ciphers: tlsSuites,
    sigalgs: signatures.join(":"),
    honorCipherOrder: true,
    // A client that puts ChaCha20 first has no fast AES and gets ChaCha20 in spite of the server's order.
    secureOptions: constants.SSL_OP_PRIORITIZE_CHACHA | constants.SSL_OP_NO_RENEGOTIATION,
    ALPNProtocols: ["h2", "http/1.1"],
    // Without this, all of the system's authorities are loaded.
    ca: [],
    // Node's limit starts again with each byte; the one that counts is in handshakes.ts.
    handshakeTimeout: settings.handshakeTimeoutMs === 0 ? maxTimerMs : 2 * settings.handshakeTimeoutMs,
    sessionTimeout: sessionSeconds,
  };
}

/**
 * Adds the options of a server that requests client certificates: docs/features/auth-tls.md. Certificates are checked with
 * each connection, so there are no tickets. OpenSSL verifies; client-validation.ts then decides which clients are refused,
 * and with which alert.
 */
export function clientValidationOptions(
  { mode, deferred, forward, authorities }: ClientPolicy,
  options: TlsOptions,
): TlsOptions {
  // A client that is neither refused nor shown to an upstream need not be verified. OpenSSL breaks the handshake off when a certificate's
  // issuer has the name of an authority, but another RSA key, and the client writes its messages one by one: the failed
  // signature stays in its error queue, where Node takes it for a failure of the connection.
  const isVerified = mode === "require" || deferred || forward;
  const strict = {
    ...options,
    ca: isVerified ? [...authorities] : [],
    secureOptions: (options.secureOptions ?? 0) | constants.SSL_OP_NO_TICKET,
  };
  // Intermediate authorities are trust anchors, too. A server does not pass this option to its context, but accepts a context.
  const context = createSecureContext({ ...strict, allowPartialTrustChain: true });
  return {
    ...strict,
    requestCert: true,
    rejectUnauthorized: false,
    SNICallback: (_, answer) => answer(null, context),
  };
}
