import { constants } from "node:crypto";
import type { TlsOptions } from "node:tls";

export type TlsSettings = {
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** From accepting the connection to the end of the handshake, milliseconds. */
  readonly handshakeTimeoutMs: number;
  /** Handshakes under way at a time; further connections are closed. */
  readonly maxHandshakes: number;
  /**
   * 48 bytes that encrypt session tickets. Whoever has the same ones resumes the sessions of the others. Absent: made
   * up when the process starts.
   */
  readonly ticketKeys?: Buffer;
};

/** Suites with forward secrecy and authenticated encryption only; ECDSA first, because it is cheaper to sign. */
const suites = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-RSA-CHACHA20-POLY1305",
];

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

/** What all TLS servers have in common, whatever their certificates: docs/features/tls.md, "Protocol". */
export function commonTlsOptions(settings: TlsSettings): TlsOptions {
  return {
    minVersion: settings.minVersion,
    maxVersion: "TLSv1.3",
    ciphers: suites.join(":"),
    sigalgs: signatures.join(":"),
    honorCipherOrder: true,
    // A client that puts ChaCha20 first has no fast AES and gets ChaCha20 in spite of the server's order.
    secureOptions: constants.SSL_OP_PRIORITIZE_CHACHA | constants.SSL_OP_NO_RENEGOTIATION,
    ALPNProtocols: ["h2", "http/1.1"],
    // No client certificate is asked for, so no authority needs to be loaded; the default is all of the system's.
    ca: [],
    // Node's limit starts again with each byte; the one that counts is in handshakes.ts.
    handshakeTimeout: 2 * settings.handshakeTimeoutMs,
    ...(settings.ticketKeys === undefined ? undefined : { ticketKeys: settings.ticketKeys }),
  };
}
