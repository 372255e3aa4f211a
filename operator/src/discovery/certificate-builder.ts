import { createHash, randomBytes, webcrypto } from "node:crypto";
import { BitString, Integer, OctetString, Utf8String } from "asn1js";
import {
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  CryptoEngine,
  ExtKeyUsage,
  Extension,
  GeneralName,
  GeneralNames,
  PublicKeyInfo,
  RelativeDistinguishedNames,
  Time,
  TimeType,
} from "pkijs";

/** The engine for everything that pkijs signs and verifies. */
export const cryptoEngine = new CryptoEngine({ name: "node", crypto: webcrypto });

/** The name and key that sign a certificate. */
export type Signer = {
  readonly name: RelativeDistinguishedNames;
  readonly key: webcrypto.CryptoKey;
  /** The key identifier in the signer's certificate; absent if it has none. */
  readonly keyId?: ArrayBuffer;
};

export type CertificateRequestBody = {
  readonly subject: RelativeDistinguishedNames;
  /** The subject's key, DER (SubjectPublicKeyInfo). */
  readonly publicKey: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly extensions: readonly Extension[];
};

/** An attribute of a name: its object identifier and its text. */
export type NameAttribute = readonly [type: string, text: string];

/** A name with a common name, and with other attributes after it. */
export function commonName(text: string, others: readonly NameAttribute[] = []): RelativeDistinguishedNames {
  const attributes: readonly NameAttribute[] = [["2.5.4.3", text], ...others];
  const typesAndValues = attributes.map(
    ([type, value]) => new AttributeTypeAndValue({ type, value: new Utf8String({ value }) }),
  );
  return new RelativeDistinguishedNames({ typesAndValues });
}

/** Builds and signs an X.509 version 3 certificate (RFC 5280 section 4.1); the result is DER. */
export async function signCertificate(request: CertificateRequestBody, signer: Signer): Promise<Uint8Array> {
  const subjectPublicKeyInfo = PublicKeyInfo.fromBER(request.publicKey);
  const certificate = new Certificate({
    version: 2,
    serialNumber: new Integer({ valueHex: serialNumber() }),
    issuer: signer.name,
    subject: request.subject,
    notBefore: timeOf(request.notBeforeMs),
    notAfter: timeOf(request.notAfterMs),
    subjectPublicKeyInfo,
    extensions: [
      ...request.extensions,
      extension("2.5.29.14", false, new OctetString({ valueHex: keyIdOf(subjectPublicKeyInfo) }).toBER()),
      ...(signer.keyId === undefined ? [] : [authorityKeyId(signer.keyId)]),
    ],
  });
  await certificate.sign(signer.key, "SHA-256", cryptoEngine);
  return new Uint8Array(certificate.toSchema(true).toBER());
}

/** The key identifier of RFC 5280 section 4.2.1.2, method 1. It identifies a key and has no security function. */
export function keyIdOf(key: PublicKeyInfo): ArrayBuffer {
  const digest = createHash("sha1").update(key.subjectPublicKey.valueBlock.valueHexView).digest();
  return new Uint8Array(digest).buffer;
}

/**
 * Basic constraints: whether the certificate may sign others. The certificates that an authority signs must not sign
 * others.
 */
export const basicConstraints = (isAuthority: boolean): Extension => {
  const value = isAuthority ? { cA: true, pathLenConstraint: 0 } : { cA: false };
  return extension("2.5.29.19", true, new BasicConstraints(value).toSchema().toBER());
};

/** Bits of the key usage extension (RFC 5280 section 4.2.1.3), from the first bit of its first byte. */
export type KeyUsageBits = { readonly bits: number; readonly unusedBits: number };
export const digitalSignature: KeyUsageBits = { bits: 0x80, unusedBits: 7 };
export const certificateSign: KeyUsageBits = { bits: 0x04, unusedBits: 2 };

export const keyUsage = ({ bits, unusedBits }: KeyUsageBits): Extension =>
  extension("2.5.29.15", true, new BitString({ valueHex: Uint8Array.of(bits).buffer, unusedBits }).toBER());

/** Extended key usage for TLS (RFC 5280 section 4.2.1.12). */
export const tlsUsage = (side: "server" | "client"): Extension => {
  const keyPurposes = [side === "server" ? "1.3.6.1.5.5.7.3.1" : "1.3.6.1.5.5.7.3.2"];
  return extension("2.5.29.37", false, new ExtKeyUsage({ keyPurposes }).toSchema().toBER());
};

/** Subject alternative names: URIs first, then DNS names. */
export function alternativeNames(uris: readonly string[], dnsNames: readonly string[] = []): Extension {
  const names = [
    ...uris.map((value) => new GeneralName({ type: 6, value })),
    ...dnsNames.map((value) => new GeneralName({ type: 2, value })),
  ];
  return extension("2.5.29.17", false, new GeneralNames({ names }).toSchema().toBER());
}

function authorityKeyId(keyId: ArrayBuffer): Extension {
  const value = new AuthorityKeyIdentifier({ keyIdentifier: new OctetString({ valueHex: keyId }) });
  return extension("2.5.29.35", false, value.toSchema().toBER());
}

const extension = (extnID: string, critical: boolean, extnValue: ArrayBuffer): Extension =>
  new Extension({ extnID, critical, extnValue });

/**
 * A serial number of 128 bits. Its first bit is 0, so that the number is positive, and the second is 1, so that its
 * length is fixed.
 */
function serialNumber(): ArrayBuffer {
  const bytes = new Uint8Array(randomBytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.buffer;
}

/**
 * Returns a UTCTime up to 2049, and a GeneralizedTime from then on (RFC 5280 section 4.1.2.5). Certificates have a
 * resolution of whole seconds.
 */
function timeOf(unixMs: number): Time {
  const value = new Date(Math.floor(unixMs / 1000) * 1000);
  const type = value.getUTCFullYear() < 2050 ? TimeType.UTCTime : TimeType.GeneralizedTime;
  return new Time({ type, value });
}
