import { createHmac } from "node:crypto";
import type { JWTPayload } from "jose";
import { expect } from "chai";
import fc from "fast-check";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import { claimHeaders } from "../../src/auth/claim-headers.ts";
import { compileIdentityStripper } from "../../src/auth/identity-headers.ts";
import { createVerificationKeys } from "../../src/auth/key-set.ts";
import { verifyToken } from "../../src/auth/token.ts";
import { keySetOf, makeKey, signToken } from "./tokens.ts";

const rules = { issuer: "https://id.example", audiences: ["shop", "office"] };
const nowMs = Date.now();
const now = Math.floor(nowMs / 1000);
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a token", () => {
  const ed = makeKey("OKP", "EdDSA", "ed");
  const rsa = makeKey("RSA", "RS256", "rsa");
  const keys = keySetOf(ed, rsa, makeKey("EC", "ES256", "ec"));
  const accepts = async (token: string, set = keys, more = rules): Promise<boolean> =>
    (await verifyToken(token, set, more, nowMs)) !== undefined;

  for (const [kty, alg] of [
    ["RSA", "RS256"],
    ["RSA", "RS384"],
    ["RSA", "RS512"],
    ["RSA", "PS256"],
    ["RSA", "PS384"],
    ["RSA", "PS512"],
    ["EC", "ES256"],
    ["OKP", "EdDSA"],
  ] as const) {
    it(`is accepted with ${alg}`, async () => {
      const key = makeKey(kty, alg, "k");
      const valid = await verifyToken(await signToken(key, { exp: now + 600 }), keySetOf(key), rules, nowMs);
      expect(valid?.claims.sub).to.equal("alice");
      expect(valid?.untilMs).to.equal((now + 600 + 60) * 1000);
    });
  }

  it("is checked with the key that it names, or with all without a name", async () => {
    expect(await accepts(await signToken(ed))).to.equal(true);
    expect(await accepts(await signToken(ed, {}, { kid: "rsa" }))).to.equal(false);
    expect(await accepts(await signToken(ed, {}, { kid: "unknown" }))).to.equal(false);
    const unnamed = makeKey("OKP", "EdDSA");
    expect(await accepts(await signToken(unnamed), keySetOf(makeKey("OKP", "EdDSA", "x"), unnamed))).to.equal(
      true,
    );
    expect(await accepts(await signToken(unnamed))).to.equal(false);
  });

  it("is not accepted with another algorithm of the same key", async () => {
    expect(await accepts(await signToken({ ...rsa, public: { ...rsa.public, alg: "PS256" } }))).to.equal(
      false,
    );
  });

  it("is not accepted without a signature, or with one made of the public key", async () => {
    const payload = base64url({ iss: rules.issuer, aud: "shop", exp: now + 600 });
    expect(await accepts(`${base64url({ alg: "none" })}.${payload}.`)).to.equal(false);
    const input = `${base64url({ alg: "HS256", kid: "rsa" })}.${payload}`;
    const secret = JSON.stringify(rsa.public);
    expect(
      await accepts(`${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`),
    ).to.equal(false);
  });

  for (const [what, claims, accepted] of [
    ["without exp", { exp: undefined }, false],
    ["that expired within the skew", { exp: now - 50 }, true],
    ["that expired", { exp: now - 70 }, false],
    ["that is valid within the skew", { nbf: now + 50 }, true],
    ["that is not valid yet", { nbf: now + 70 }, false],
    ["of another issuer", { iss: "https://id.example/" }, false],
    ["without issuer", { iss: undefined }, false],
    ["for another audience", { aud: "bank" }, false],
    ["for one of the audiences", { aud: ["bank", "office"] }, true],
    ["without audience", { aud: undefined }, false],
  ] as const) {
    it(`${what} is ${accepted ? "accepted" : "refused"}`, async () => {
      // What a test wants to be wrong or missing is so whatever its type says.
      const token = await signToken(ed, claims as JWTPayload);
      expect(await accepts(token)).to.equal(accepted);
    });
  }

  it("may have any audience where none is asked for", async () => {
    const token = await signToken(ed, { aud: "bank" });
    expect(await accepts(token, keys, { ...rules, audiences: [] })).to.equal(true);
  });

  it("with an unknown critical parameter is refused", async () => {
    const [, payload = "", signature = ""] = (await signToken(ed)).split(".");
    const header = base64url({ alg: "EdDSA", kid: "ed", crit: ["x"], x: 1 });
    expect(await accepts(`${header}.${payload}.${signature}`)).to.equal(false);
  });

  it("is refused when anything of it is changed, and never throws", async () => {
    const token = await signToken(ed);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: token.length - 1 }), fc.string({ maxLength: 3 }), async (at, put) => {
        const other = token.slice(0, at) + put + token.slice(at + 1);
        // The last character of a signature may hold bits that count for nothing.
        fc.pre(other !== token && at < token.length - 1);
        expect(await accepts(other)).to.equal(false);
      }),
    );
  });
});

describe("claims as headers", () => {
  const valid = (claims: object) => ({ claims: { ...claims }, payload: "e30", untilMs: 0 });

  it("are text, numbers and booleans of the top level", () => {
    const claimToHeaders = ["s", "n", "b", "list", "map", "nothing", "missing", "toString"].map((claim) => ({
      claim,
      header: `X-${claim}`,
    }));
    const claims = { s: "zoë", n: 1.5, b: false, list: ["a"], map: {}, nothing: null };
    expect(claimHeaders(valid(claims), { claimToHeaders, payloadHeader: "X-P" })).to.deep.equal([
      ...["X-s", "zo\xc3\xab", "X-n", "1.5", "X-b", "false", "X-P", "e30"],
    ]);
  });

  it("can never end a field or begin another", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom("\r", "\n", "\0", "\u010a", "\u2028", "a", ":", " ", "\ud800") }),
    );
    fc.assert(
      fc.property(text, (value) => {
        const headers = claimHeaders(valid({ c: value }), {
          claimToHeaders: [{ claim: "c", header: "X-C" }],
        });
        for (const written of headers) expect(isHeaderValue(written)).to.equal(true);
        if (/[\r\n\0]/.test(value.trim())) expect(headers).to.deep.equal([]);
      }),
    );
  });

  it("are taken away from what the client sent, however it is spelt", () => {
    const headers = ["X-User", "a", "x_user", "b", "X-USER", "c", "X-Users", "d", "X", "e"];
    compileIdentityStripper(["x-user"])(headers);
    expect(headers).to.deep.equal(["X-Users", "d", "X", "e"]);
  });
});

describe("keys that a controller has not fetched yet", () => {
  const source = "https://id.example/jwks";
  const known = createVerificationKeys({ source, keys: [makeKey("OKP", "EdDSA").public] }, undefined);

  it("are those that the proxy has of the same source", () => {
    expect(createVerificationKeys({ source }, known)).to.equal(known);
  });

  it("are none, of another source or of none", () => {
    expect(createVerificationKeys({ source: "https://other.example/" }, known).keys).to.deep.equal([]);
    expect(createVerificationKeys({}, createVerificationKeys({ keys: [] }, undefined)).keys).to.deep.equal(
      [],
    );
    expect(createVerificationKeys({ source }, undefined).keys).to.deep.equal([]);
  });
});
