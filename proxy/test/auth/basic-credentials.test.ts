import fc from "fast-check";
import { expect } from "chai";
import { readBasicCredentials } from "../../src/auth/basic-credentials.ts";

const encode = (text: string | Buffer): string => `Basic ${Buffer.from(text).toString("base64")}`;

describe("Basic credentials", () => {
  it("Basic credentials are a name up to the first colon, and a password", () => {
    expect(readBasicCredentials(encode("alice:open:sesame"))).to.deep.equal({
      name: "alice",
      password: "open:sesame",
    });
    expect(readBasicCredentials(encode("alice:"))).to.deep.equal({ name: "alice", password: "" });
    expect(readBasicCredentials(encode(":p"))).to.deep.equal({ name: "", password: "p" });
    expect(readBasicCredentials(encode("zoë:pässwort"))).to.deep.equal({ name: "zoë", password: "pässwort" });
  });

  it("Basic credentials are read after the scheme's name in any case", () => {
    expect(readBasicCredentials(encode("a:b").replace("Basic", "bASIC"))).to.deep.equal({
      name: "a",
      password: "b",
    });
  });

  for (const [what, value] of [
    ["no field", undefined],
    ["an empty field", ""],
    ["another scheme", "Bearer YTpi"],
    ["no credentials", "Basic"],
    ["no colon", encode("alice")],
    ["characters that are not base64", "Basic YTpi*"],
    ["two fields that were joined", `${encode("a:b")}, ${encode("c:d")}`],
    ["bytes that are not UTF-8", encode(Buffer.from([0x61, 0x3a, 0xff]))],
    ["more than 4 KiB", encode(`a:${"x".repeat(4_096)}`)],
  ] as const) {
    it(`Basic credentials are not read from ${what}`, () =>
      expect(readBasicCredentials(value)).to.equal(undefined));
  }

  it("Basic credentials are read from what any client encodes", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 50 }),
        fc.string({ unit: "grapheme", maxLength: 50 }),
        (name, password) => {
          fc.pre(!name.includes(":"));
          expect(readBasicCredentials(encode(`${name}:${password}`))).to.deep.equal({ name, password });
        },
      ),
    );
  });
});
