import { createHash } from "node:crypto";
import { expect } from "chai";
import { createSecretDigest } from "../../src/auth/secret-digest.ts";

describe("digests of secrets", () => {
  it("equal texts have equal digests, and different ones different digests", () => {
    const digestOf = createSecretDigest();
    expect(digestOf("token")).to.equal(digestOf("token"));
    expect(new Set(["", "token", "token ", "Token", "tökën"].map(digestOf)).size).to.equal(5);
  });

  it("two digesters give one text different digests, which are not those of the text alone", () => {
    const plain = createHash("sha256").update("token").digest("base64");
    const digests = [createSecretDigest()("token"), createSecretDigest()("token"), plain];
    expect(new Set(digests).size).to.equal(3);
    expect(digests.map(({ length }) => length)).to.deep.equal([44, 44, 44]);
  });
});
