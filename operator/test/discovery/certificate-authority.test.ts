import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { expect } from "chai";
import {
  createCertificateAuthority,
  loadCertificateAuthority,
  type CaPem,
  type CertificateAuthority,
} from "@svc-gateway/operator/discovery/certificate-authority.ts";
import {
  alternativeNames,
  basicConstraints,
  certificateSign,
  commonName,
  keyUsage,
  signCertificate,
} from "@svc-gateway/operator/discovery/certificate-builder.ts";
import { pemBlocks, toPem } from "@svc-gateway/operator/discovery/pem.ts";
import { createTestKey } from "./support/signing-request.ts";

const dayMs = 24 * 60 * 60_000;
const nowMs = Date.UTC(2030, 0, 1);
const clientAuth = "1.3.6.1.5.5.7.3.2";
const serverAuth = "1.3.6.1.5.5.7.3.1";

async function authority(pem?: CaPem): Promise<CertificateAuthority> {
  const loaded = await loadCertificateAuthority(
    "example.org",
    pem ?? (await createCertificateAuthority("example.org", nowMs)),
  );
  if (!loaded.ok) throw new Error(loaded.error.message);
  return loaded.value;
}

const svidRequest = (lifetimeMs: number) => ({
  publicKey: createTestKey().publicKey,
  identity: { namespace: "svc-system", serviceAccount: "svc-shared-proxy" },
  nowMs,
  lifetimeMs,
});

describe("the certificate authority", () => {
  it("a created authority is a P-256 root that is valid for ten years", async () => {
    const { certificatePem } = await createCertificateAuthority("example.org", nowMs);
    const certificate = new X509Certificate(certificatePem);
    expect(certificate.ca).to.equal(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).to.equal("prime256v1");
    expect(certificate.verify(certificate.publicKey)).to.equal(true);
    expect(certificate.validToDate.getTime() - nowMs).to.be.closeTo(3652.5 * dayMs, dayMs);
  });

  it("a proxy certificate has one URI, is for clients only, and is backdated by five minutes", async () => {
    const ca = await authority();
    const { chainPem, notAfterMs } = await ca.issueSvid(svidRequest(dayMs));
    const certificate = new X509Certificate(chainPem);
    expect(certificate.subjectAltName).to.equal("URI:spiffe://example.org/ns/svc-system/sa/svc-shared-proxy");
    expect(certificate.keyUsage).to.deep.equal([clientAuth]);
    expect(certificate.ca).to.equal(false);
    expect(certificate.validFromDate.getTime()).to.equal(nowMs - 5 * 60_000);
    expect(certificate.validToDate.getTime()).to.equal(nowMs + dayMs);
    expect(notAfterMs).to.equal(nowMs + dayMs);
    expect(certificate.verify(new X509Certificate(ca.rootPem).publicKey)).to.equal(true);
    expect(certificate.checkIssued(new X509Certificate(ca.rootPem))).to.equal(true);
  });

  it("a controller certificate is for servers only and has the names of the Service", async () => {
    const ca = await authority();
    const { chainPem } = await ca.issueServerCertificate({
      ...svidRequest(dayMs),
      dnsNames: ["svc-controller-discovery", "svc-controller-discovery.svc-system.svc"],
    });
    const certificate = new X509Certificate(chainPem);
    expect(certificate.keyUsage).to.deep.equal([serverAuth]);
    expect(certificate.subjectAltName).to.equal(
      "URI:spiffe://example.org/ns/svc-system/sa/svc-shared-proxy, DNS:svc-controller-discovery, DNS:svc-controller-discovery.svc-system.svc",
    );
  });

  it("an issued certificate never outlives its authority", async () => {
    const ca = await authority();
    const { notAfterMs } = await ca.issueSvid(svidRequest(20 * 366 * dayMs));
    expect(notAfterMs).to.equal(ca.notAfterMs);
  });

  it("every certificate has its own positive serial number of 128 bits", async () => {
    const ca = await authority();
    const issued = await Promise.all([...Array(20)].map(() => ca.issueSvid(svidRequest(dayMs))));
    const serials = issued.map(({ chainPem }) => new X509Certificate(chainPem).serialNumber);
    expect(new Set(serials).size).to.equal(20);
    for (const serial of serials) expect(serial).to.match(/^[4-7][0-9A-F]{31}$/);
  });

  it("dates after 2049 are encoded as RFC 5280 requires", async () => {
    const late = Date.UTC(2049, 11, 31);
    const { certificatePem } = await createCertificateAuthority("example.org", late);
    const certificate = new X509Certificate(certificatePem);
    expect(certificate.validToDate.getUTCFullYear()).to.equal(2059);
  });

  it("an authority may have an RSA key, and keys may be in PKCS #8, SEC 1 or PKCS #1", async () => {
    const pem = await createCertificateAuthority("example.org", nowMs);
    const { createPrivateKey } = await import("node:crypto");
    const sec1 = createPrivateKey(pem.privateKeyPem).export({ type: "sec1", format: "pem" }).toString();
    expect((await loadCertificateAuthority("example.org", { ...pem, privateKeyPem: sec1 })).ok).to.equal(
      true,
    );
    const rsa = await rsaAuthority(3072);
    const { chainPem } = await (await authority(rsa)).issueSvid(svidRequest(dayMs));
    expect(new X509Certificate(chainPem).verify(new X509Certificate(rsa.certificatePem).publicKey)).to.equal(
      true,
    );
  });

  it("an intermediate authority sends its issuers along, and the last of them is trusted", async () => {
    const root = await createCertificateAuthority("example.org", nowMs);
    const key = createTestKey();
    const der = await signedBy(root, key.publicKey);
    const intermediate = { certificatePem: toPem("CERTIFICATE", der), privateKeyPem: key.privateKeyPem };
    const chained = await authority({
      ...intermediate,
      certificatePem: intermediate.certificatePem + root.certificatePem,
    });
    expect(chained.rootPem).to.equal(root.certificatePem);
    const { chainPem } = await chained.issueSvid(svidRequest(dayMs));
    expect(pemBlocks(chainPem, "CERTIFICATE")).to.have.length(2);
    const alone = await authority(intermediate);
    expect(alone.rootPem).to.equal(intermediate.certificatePem);
    expect(pemBlocks((await alone.issueSvid(svidRequest(dayMs))).chainPem, "CERTIFICATE")).to.have.length(1);
  });

  const refused = async (pem: CaPem): Promise<string> => {
    const loaded = await loadCertificateAuthority("example.org", pem);
    return loaded.ok ? "accepted" : loaded.error.message;
  };

  it("the problem of an unusable authority says why and never quotes the key", async () => {
    const pem = await createCertificateAuthority("example.org", nowMs);
    const other = await createCertificateAuthority("example.org", nowMs);
    const leafKey = createTestKey();
    const leaf = await (
      await authority(pem)
    ).issueSvid({ ...svidRequest(dayMs), publicKey: leafKey.publicKey });
    const cases: readonly (readonly [CaPem, RegExp])[] = [
      [{ ...pem, certificatePem: "" }, /no certificate/],
      [{ ...pem, certificatePem: toPem("CERTIFICATE", Buffer.from("nonsense")) }, /cannot be read/],
      [{ ...pem, privateKeyPem: "SECRET-TEXT" }, /cannot be read/],
      [{ ...pem, privateKeyPem: other.privateKeyPem }, /not the key/],
      [
        { certificatePem: leaf.chainPem, privateKeyPem: leafKey.privateKeyPem },
        /not the certificate of an authority/,
      ],
      [await rsaAuthority(2048), /too weak/],
      [{ ...pem, certificatePem: "x".repeat(70_000) }, /larger/],
    ];
    for (const [input, expected] of cases) {
      const message = await refused(input);
      expect(message).to.match(expected);
      expect(message).not.to.contain("SECRET");
    }
  });
});

async function signedBy(root: CaPem, publicKey: Uint8Array): Promise<Uint8Array> {
  const { createPrivateKey } = await import("node:crypto");
  const key = createPrivateKey(root.privateKeyPem).toCryptoKey(
    { name: "ECDSA", namedCurve: "P-256" },
    false,
    ["sign"],
  );
  return signCertificate(
    {
      subject: commonName("intermediate"),
      publicKey,
      notBeforeMs: nowMs,
      notAfterMs: nowMs + 365 * dayMs,
      extensions: [
        basicConstraints(true),
        keyUsage(certificateSign),
        alternativeNames(["spiffe://example.org"]),
      ],
    },
    { name: commonName("svc-gateway discovery CA"), key },
  );
}

async function rsaAuthority(modulusLength: number): Promise<CaPem> {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength });
  const name = commonName("rsa");
  const der = await signCertificate(
    {
      subject: name,
      publicKey: publicKey.export({ type: "spki", format: "der" }),
      notBeforeMs: nowMs,
      notAfterMs: nowMs + 365 * dayMs,
      extensions: [basicConstraints(true), keyUsage(certificateSign)],
    },
    { name, key: privateKey.toCryptoKey({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, false, ["sign"]) },
  );
  return {
    certificatePem: toPem("CERTIFICATE", der),
    privateKeyPem: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
  };
}
