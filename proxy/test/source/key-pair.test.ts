import { createPrivateKey } from "node:crypto";
import { expect } from "chai";
import { CertificationRequest, CryptoEngine } from "pkijs";
import { webcrypto } from "node:crypto";
import { createKeyPair } from "@svc-gateway/proxy/source/key-pair.ts";
import { readProxyIdentity } from "@svc-gateway/proxy/source/proxy-identity.ts";

describe("the key pair of a proxy", () => {
  it("the key pair is a new P-256 key each time, with a signed certificate request", async () => {
    const [one, two] = [await createKeyPair("pod-1"), await createKeyPair("pod-1")];
    expect(createPrivateKey(one.privateKeyPem).asymmetricKeyDetails?.namedCurve).to.equal("prime256v1");
    expect(one.privateKeyPem).not.to.equal(two.privateKeyPem);
    const body = one.csrPem.replace(/-----.*-----|\n/g, "");
    const request = CertificationRequest.fromBER(new Uint8Array(Buffer.from(body, "base64")));
    expect(await request.verify(new CryptoEngine({ name: "node", crypto: webcrypto }))).to.equal(true);
  });

  it("a certificate request can have a name of any length", async () => {
    expect((await createKeyPair("p".repeat(253))).csrPem).to.contain("BEGIN CERTIFICATE REQUEST");
  });
});

describe("the issued certificate", () => {
  it("an issued certificate that cannot be parsed is an error", async () => {
    const { privateKeyPem } = await createKeyPair("pod-1");
    expect(readProxyIdentity(privateKeyPem, "nonsense", 0)).to.deep.equal({
      ok: false,
      error: { message: "the issued certificate cannot be parsed" },
    });
  });
});
