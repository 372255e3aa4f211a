/** Reads a TLS Secret: checks it, and orders its chain. See docs/routing.md, "Certificates". */
import { createHash, createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Certificate } from "@svc-gateway/common/ir/certificate.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { readSecretValue } from "../../api/secret-value.ts";
import { compareText } from "../age.ts";
import { memo } from "../incremental/memo.ts";
import { quote } from "../text.ts";
import { orderChain, readPemCertificates } from "./chain.ts";

export type TlsCertificate = {
  /** The SHA-256 (hex) of chain and key. Equal certificates have equal ids. */
  readonly id: string;
  readonly value: Certificate;
  readonly keyType: "ecdsa" | "ed25519" | "rsa";
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** The DNS names of the leaf, in lower case. */
  readonly names: ReadonlySet<string>;
  /** Whether the leaf names this host in a subject alternative name (RFC 6125 section 6.4). */
  readonly covers: (host: HostPattern) => boolean;
};

const tlsSecretType = "kubernetes.io/tls";

/** The message about an unknown Secret. A controller reads no Secrets of other types, so it can exist. */
export const unknownTlsSecret = (named: string): string =>
  `${named} does not exist or is not of type ${tlsSecretType}`;

const minRsaBits = 2048;
const curves: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1", "secp521r1"]);

export const isTlsSecret = ({ type }: ObjectOf<"Secret">): boolean => type === tlsSecretType;

/**
 * Reads `tls.crt` and `tls.key` of a Secret of type `kubernetes.io/tls`. The error is the reason why the
 * certificate cannot be served. Validity times are not checked.
 */
export const readTlsSecret = (secret: ObjectOf<"Secret">): Result<TlsCertificate> =>
  isTlsSecret(secret) ? readKeyPair(secret) : problem(`The Secret is not of type ${tlsSecretType}`);

/** Reads `tls.crt` and `tls.key` of a Secret of any type. */
export const readKeyPair = memo((secret: ObjectOf<"Secret">): Result<TlsCertificate> => {
  const keyText = decode(secret, "tls.key");
  if (!keyText.ok) return keyText;
  const chainText = decode(secret, "tls.crt");
  if (!chainText.ok) return chainText;
  const key = readPrivateKey(keyText.value);
  if (!key.ok) return key;
  const keyType = checkKey(key.value);
  if (!keyType.ok) return keyType;
  const certificates = readPemCertificates(chainText.value, "tls.crt");
  if (!certificates.ok) return certificates;
  const chain = orderChain(certificates.value, key.value);
  const [leaf] = chain;
  if (leaf === undefined) return problem("tls.key does not match any certificate in tls.crt");
  const chainPem = chain.map((certificate) => certificate.toString()).join("");
  const keyPem = String(key.value.export({ type: "pkcs8", format: "pem" }));
  const refused = whyTlsRefuses(chainPem, keyPem);
  if (refused !== undefined) return problem(`The certificate cannot be served: ${refused}`);
  const names = subjectNames(leaf);
  return ok({
    id: createHash("sha256").update(chainPem).update(keyPem).digest("hex"),
    value: { chainPem, keyPem },
    keyType: keyType.value,
    notBeforeMs: leaf.validFromDate.getTime(),
    notAfterMs: leaf.validToDate.getTime(),
    names,
    covers: ({ kind, host }) =>
      kind === "any" || names.has(host) || (kind === "exact" && names.has(host.replace(/^[^.]+/, "*"))),
  });
});

function decode(secret: ObjectOf<"Secret">, key: string): Result<string> {
  const value = readSecretValue(secret, key);
  return value.ok ? ok(value.value?.toString("latin1") ?? "") : value;
}

function readPrivateKey(pem: string): Result<KeyObject> {
  try {
    return ok(createPrivateKey(pem));
  } catch {
    // OpenSSL's reason is not useful, and key material must not be quoted.
    return problem("tls.key is not an unencrypted private key in PEM form");
  }
}

function checkKey(key: KeyObject): Result<TlsCertificate["keyType"]> {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "rsa":
      return modulusLength >= minRsaBits
        ? ok("rsa")
        : problem(`The RSA key has ${modulusLength} bits`, `at least ${minRsaBits}`);
    case "ec":
      return curves.has(namedCurve)
        ? ok("ecdsa")
        : problem(`The curve ${quote(namedCurve ?? "")} is not supported`, "P-256, P-384 or P-521");
    case "ed25519":
      return ok("ed25519");
    default:
      return problem(
        `Keys of type ${String(key.asymmetricKeyType)} are not supported`,
        "RSA, ECDSA or Ed25519",
      );
  }
}

/**
 * The reason why the TLS library rejects a certificate (for a weak signature, say); undefined if it does not.
 * Proxies accept a snapshot as a whole or not at all, so such a certificate must not reach them. `ca` prevents
 * the library from loading the system's roots.
 */
function whyTlsRefuses(cert: string, key: string): string | undefined {
  try {
    createSecureContext({ cert, key, ca: [] });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error && "reason" in error ? error.reason : undefined;
    return typeof reason === "string" ? reason : "the TLS library rejects it";
  }
}

/** The DNS names of a certificate, in lower case. Clients no longer use the common name (RFC 9525 section 2). */
function subjectNames(leaf: X509Certificate): ReadonlySet<string> {
  const names = leaf.subjectAltName ?? "";
  return new Set([...names.matchAll(/(?:^|, )DNS:([^,"\s]+)/g)].map(([, name = ""]) => name.toLowerCase()));
}

/**
 * Orders certificates for one name: ECDSA before others, because it is cheaper to serve, then the one that is
 * valid longest.
 */
export function compareChoice(a: TlsCertificate, b: TlsCertificate): number {
  const byType = Number(b.keyType === "ecdsa") - Number(a.keyType === "ecdsa");
  return byType || b.notAfterMs - a.notAfterMs || compareText(a.id, b.id);
}
