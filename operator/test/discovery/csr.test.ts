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
    it(`gives the key of ${JSON.stringify(algorithm)}`, async () => {
      const { csrPem, privateKeyPem } = await createSigningRequest(algorithm);
      const key = await publicKeyOfCsr(csrPem);
      const expected = createPublicKey(privateKeyPem).export({ type: "spki", format: "der" });
      expect(key.ok && Buffer.from(key.value).equals(expected)).to.equal(true);
    });
  }

  it("refuses a key of less than 128 bits of strength", async () => {
    const { csrPem } = await createSigningRequest({ name: "RSASSA-PKCS1-v1_5", modulusLength: 2048 });
    expect(await publicKeyOfCsr(csrPem)).to.deep.equal({
      ok: false,
      error: { message: "the key is weaker than P-256" },
    });
  });

  it("refuses a request that is signed with another key, or changed", async () => {
    const [der] = pemBlocks((await createSigningRequest()).csrPem.toString(), "CERTIFICATE REQUEST");
    const changed = Buffer.from(der ?? []);
    changed.write("S", changed.indexOf("system:masters"));
    const result = await publicKeyOfCsr(Buffer.from(toPem("CERTIFICATE REQUEST", changed)));
    expect(result).to.deep.equal({
      ok: false,
      error: { message: "the request is not signed with its own key" },
    });
  });

  it("refuses what is not one request in PEM", async () => {
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

  it("survives deeply nested input", async () => {
    const nested = Buffer.alloc(8_000, Buffer.of(0x30, 0x80));
    expect((await publicKeyOfCsr(Buffer.from(toPem("CERTIFICATE REQUEST", nested)))).ok).to.equal(false);
  });

  it("answers every input, and gives no key but the one that signed", async () => {
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
