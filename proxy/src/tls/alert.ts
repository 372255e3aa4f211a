import { type CipherGCMTypes, createCipheriv, createHmac } from "node:crypto";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

const fatal = 2;
const alertRecord = 21;
const applicationRecord = 23;

/**
 * Refuses a client with a fatal alert (`description` is its number, RFC 8446 6) at the moment when its handshake is
 * complete, and closes the connection. Node would close it without an alert, as it has no way to send one. Records that
 * its TLS still holds back are never sent, including the server's Finished, so `serverSecret` is not used a second
 * time.
 */
export function refuseWithAlert(
  plain: Socket,
  secure: TLSSocket,
  serverSecret: Buffer | undefined,
  description: number,
): void {
  const isTls13 = secure.getProtocol() === "TLSv1.3";
  if (!isTls13) plain.end(plainAlert(description), () => plain.destroy());
  else if (serverSecret === undefined) plain.destroy();
  else {
    const record = encryptedAlert(secure.getCipher().standardName, serverSecret, description);
    plain.end(record, () => plain.destroy());
  }
  secure.destroy();
}

/**
 * Returns the alert of TLS 1.2. It is not encrypted, because the server has not changed its cipher yet (RFC 5246
 * 7.2.2).
 */
const plainAlert = (description: number): Buffer =>
  Buffer.from([alertRecord, 3, 3, 0, 2, fatal, description]);

const tagBytes = 16;
const nonceBytes = 12;

/**
 * Returns the alert of TLS 1.3: the first record under the server's application keys (RFC 8446 5.2, 7.3). Its sequence
 * number is 0, so the nonce is the initialisation vector itself (RFC 8446 5.3).
 */
function encryptedAlert(suite: string, secret: Buffer, description: number): Buffer {
  const hash = suite.endsWith("SHA384") ? "sha384" : "sha256";
  const { cipher, keyBytes } = ciphers[suite] ?? aes128;
  const key = expandLabel(hash, secret, "key", keyBytes);
  const nonce = expandLabel(hash, secret, "iv", nonceBytes);
  const content = Buffer.from([fatal, description, alertRecord]);
  const header = Buffer.from([applicationRecord, 3, 3, 0, content.length + tagBytes]);
  const sealing = createCipheriv(cipher as CipherGCMTypes, key, nonce, { authTagLength: tagBytes });
  sealing.setAAD(header, { plaintextLength: content.length });
  return Buffer.concat([header, sealing.update(content), sealing.final(), sealing.getAuthTag()]);
}

const aes128 = { cipher: "aes-128-gcm", keyBytes: 16 };
const ciphers: { readonly [suite: string]: { readonly cipher: string; readonly keyBytes: number } } = {
  TLS_AES_128_GCM_SHA256: aes128,
  TLS_AES_256_GCM_SHA384: { cipher: "aes-256-gcm", keyBytes: 32 },
  TLS_CHACHA20_POLY1305_SHA256: { cipher: "chacha20-poly1305", keyBytes: 32 },
};

/** Computes HKDF-Expand-Label (RFC 8446 7.1) without context, for at most one block of the hash. */
function expandLabel(hash: string, secret: Buffer, label: string, bytes: number): Buffer {
  const full = Buffer.from(`tls13 ${label}`, "latin1");
  const info = Buffer.concat([Buffer.from([0, bytes, full.length]), full, Buffer.from([0, 1])]);
  return createHmac(hash, secret).update(info).digest().subarray(0, bytes);
}
