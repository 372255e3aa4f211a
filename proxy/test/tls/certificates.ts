import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Certificate } from "@svc-gateway/common/ir/certificate.ts";

export type KeyType = "ec" | "rsa" | "ed25519";

/** A certificate for a test, with its key, which can issue others. */
export type Issued = Certificate & {
  readonly leafPem: string;
  readonly name: string;
  readonly key: KeyObject;
};

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value, "latin1"));
const oid = (hex: string): Buffer => der(6, Buffer.from(hex, "hex"));
const bits = (value: Buffer): Buffer => der(3, Buffer.from([0]), value);

const signatureAlgorithms: { readonly [T in KeyType]: Buffer } = {
  ec: sequence(oid("2a8648ce3d040302")),
  rsa: sequence(oid("2a864886f70d01010b"), der(5)),
  ed25519: sequence(oid("2b6570")),
};

const distinguishedName = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid("550403"), text(12, name))));

const time = (ms: number): Buffer => text(0x18, new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, ""));

function generateKeys(type: KeyType): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  switch (type) {
    case "ec":
      return generateKeyPairSync("ec", { namedCurve: "P-256" });
    case "rsa":
      return generateKeyPairSync("rsa", { modulusLength: 2048 });
    case "ed25519":
      return generateKeyPairSync("ed25519");
  }
}

let lastSerial = 0;

/** RFC 5280 4.2.1.6: a URI, else a DNS name. */
const subjectAltName = (name: string): Buffer => text(name.includes("://") ? 0x86 : 0x82, name);

/** Issues a certificate for `names` (the first one is its subject), signed by `issuer` or by itself. */
export function issueCertificate(
  names: readonly string[],
  options: {
    readonly type?: KeyType;
    readonly issuer?: Issued;
    readonly ca?: boolean;
    readonly notAfterMs?: number;
    /** Leaves the subject alternative names out. */
    readonly withoutNames?: boolean;
  } = {},
): Issued {
  const {
    type = "ec",
    issuer,
    ca = false,
    notAfterMs = Date.UTC(2100, 0, 1),
    withoutNames = false,
  } = options;
  const { publicKey, privateKey } = generateKeys(type);
  const name = names[0] as string;
  const signer = issuer?.key ?? privateKey;
  const algorithm = signatureAlgorithms[(signer.asymmetricKeyType ?? "ec") as KeyType];
  const extensions = sequence(
    sequence(oid("551d13"), der(4, ca ? sequence(der(1, Buffer.from([255]))) : sequence())),
    ...(withoutNames ? [] : [sequence(oid("551d11"), der(4, sequence(...names.map(subjectAltName))))]),
  );
  const signed = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    der(2, Buffer.from([1, ++lastSerial])),
    algorithm,
    distinguishedName(issuer?.name ?? name),
    sequence(time(Date.UTC(2020, 0, 1)), time(notAfterMs)),
    distinguishedName(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const digest = signer.asymmetricKeyType === "ed25519" ? null : "sha256";
  const certificate = sequence(signed, algorithm, bits(sign(digest, signed, signer)));
  const lines = certificate
    .toString("base64")
    .match(/.{1,64}/g)
    ?.join("\n");
  const leafPem = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  return {
    leafPem,
    chainPem: leafPem + (issuer?.chainPem ?? ""),
    keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    name,
    key: privateKey,
  };
}
