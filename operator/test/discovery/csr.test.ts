import { createPublicKey } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { publicKeyOfCsr } from "@svc-gateway/operator/discovery/csr.ts";
import { pemBlocks, toPem } from "@svc-gateway/operator/discovery/pem.ts";
import { createSigningRequest } from "./support/signing-request.ts";

describe("signing requests", () => {
  const strong = [
    { name: "ECDSA", namedCurve: "P-256" },
    { name: "ECDSA", namedCurve: "P-384" },
    { name: "ECDSA", namedCurve: "P-521" },
    { name: "RSASSA-PKCS1-v1_5", modulusLength: 3072 },
  ];
  for (const algorithm of strong) {
    it(`the public key of a signing request with ${JSON.stringify(algorithm)} is returned`, async () => {
      const { csrPem, privateKeyPem } = await createSigningRequest(algorithm);
      const key = await publicKeyOfCsr(csrPem);
      const expected = createPublicKey(privateKeyPem).export({ type: "spki", format: "der" });
      expect(key.ok && Buffer.from(key.value).equals(expected)).to.equal(true);
    });
  }

  it("a signing request whose key has less than 128 bits of strength is rejected", async () => {
    const { csrPem } = await createSigningRequest({ name: "RSASSA-PKCS1-v1_5", modulusLength: 2048 });
    expect(await publicKeyOfCsr(csrPem)).to.deep.equal({
      ok: false,
      error: {
        message:
          "the key is too weak or unsupported, expected P-256, P-384, P-521 or RSA of 3072 to 8192 bits",
      },
    });
  });

  it("a signing request that was changed or signed with another key is rejected", async () => {
    const [der] = pemBlocks((await createSigningRequest()).csrPem.toString(), "CERTIFICATE REQUEST");
    const changed = Buffer.from(der ?? []);
    changed.write("S", changed.indexOf("system:masters"));
    const result = await publicKeyOfCsr(Buffer.from(toPem("CERTIFICATE REQUEST", changed)));
    expect(result).to.deep.equal({
      ok: false,
      error: { message: "the certificate signing request is not signed with its own key" },
    });
  });

  it("anything but one CERTIFICATE REQUEST in PEM is rejected", async () => {
    const { csrPem } = await createSigningRequest();
    const inputs = [
      "",
      "nonsense",
      toPem("CERTIFICATE", Buffer.from("x")),
      toPem("CERTIFICATE REQUEST", Buffer.from("x")),
      csrPem.toString() + csrPem.toString(),
      csrPem.toString() + "x".repeat(20_000),
    ];
    for (const input of inputs) expect((await publicKeyOfCsr(Buffer.from(input))).ok).to.equal(false);
  });

  it("deeply nested input is rejected without a crash", async () => {
    const nested = Buffer.alloc(8_000, Buffer.of(0x30, 0x80));
    expect((await publicKeyOfCsr(Buffer.from(toPem("CERTIFICATE REQUEST", nested)))).ok).to.equal(false);
  });

  it("a modified signing request never yields another key than the one that signed it", async () => {
    const { csrPem } = await createSigningRequest();
    const original = await publicKeyOfCsr(csrPem);
    const [valid] = pemBlocks(csrPem.toString(), "CERTIFICATE REQUEST");
    const der = new Uint8Array(valid ?? []);
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: der.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, flip) => {
          const changed = Uint8Array.from(der);
          changed[at] = (changed[at] ?? 0) ^ flip;
          const result = await publicKeyOfCsr(Buffer.from(toPem("CERTIFICATE REQUEST", changed)));
          if (result.ok) expect(result).to.deep.equal(original);
        },
      ),
      { numRuns: 150 },
    );
  });
});
