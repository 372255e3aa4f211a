import { createHmac, sign } from "node:crypto";
import type { PublicKey } from "@svc-gateway/common/ir/credentials.ts";
import type { JWTPayload } from "jose";
import { expect } from "chai";
import fc from "fast-check";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import { claimHeaders } from "../../src/auth/claim-headers.ts";
import { compileIdentityStripper } from "../../src/auth/identity-headers.ts";
import { createVerificationKeys } from "../../src/auth/key-set.ts";
import { verifyToken, type SignatureTurn } from "../../src/auth/token.ts";
import { keySetOf, makeKey, signToken, type TestKey } from "./tokens.ts";
import { Fields } from "../../src/message/fields.ts";

const rules = { issuer: "https://id.example", audiences: ["shop", "office"] };
const nowMs = Date.now();
const now = Math.floor(nowMs / 1000);
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a token", () => {
  const ed = makeKey("OKP", "EdDSA", "ed");
  const rsa = makeKey("RSA", "RS256", "rsa");
  const keys = keySetOf(ed, rsa, makeKey("EC", "ES256", "ec"));
  const atOnce: SignatureTurn = (check) => check();
  const accepts = async (token: string, set = keys, more = rules): Promise<boolean> =>
    typeof (await verifyToken(token, set, more, nowMs, atOnce)) !== "string";

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
    it(`a token that is signed with ${alg} is accepted`, async () => {
      const key = makeKey(kty, alg, "k");
      const token = await signToken(key, { exp: now + 600 });
      const valid = await verifyToken(token, keySetOf(key), rules, nowMs, atOnce);
      if (typeof valid === "string") throw new Error(valid);
      expect(valid.claims.sub).to.equal("alice");
      expect(valid.untilMs).to.equal((now + 600 + 60) * 1000);
    });
  }

  it("a token is checked with the key that it names, or with all keys when it names none", async () => {
    expect(await accepts(await signToken(ed))).to.equal(true);
    expect(await accepts(await signToken(ed, {}, { kid: "rsa" }))).to.equal(false);
    expect(await accepts(await signToken(ed, {}, { kid: "unknown" }))).to.equal(false);
    const unnamed = makeKey("OKP", "EdDSA");
    expect(await accepts(await signToken(unnamed), keySetOf(makeKey("OKP", "EdDSA", "x"), unnamed))).to.equal(
      true,
    );
    expect(await accepts(await signToken(unnamed))).to.equal(false);
  });

  it("a token is tried with eight keys at most, those without a name first, also where keys share its name", async () => {
    const named = Array.from({ length: 10 }, (_, index) => makeKey("OKP", "EdDSA", `k${index}`));
    const unnamed = makeKey("OKP", "EdDSA");
    const same = Array.from({ length: 10 }, () => makeKey("OKP", "EdDSA", "same"));
    const tries = async (token: string, ...set: TestKey[]): Promise<readonly [boolean, number]> => {
      let count = 0;
      const counted: SignatureTurn = (check) => {
        count++;
        return check();
      };
      return [typeof (await verifyToken(token, keySetOf(...set), rules, nowMs, counted)) !== "string", count];
    };
    const withoutName = async (key: TestKey | undefined): Promise<string> =>
      signToken(key ?? unnamed, {}, { kid: undefined as never });
    expect(await tries(await withoutName(unnamed), ...named, unnamed)).to.deep.equal([true, 1]);
    expect(await tries(await withoutName(named[6]), ...named, unnamed)).to.deep.equal([true, 8]);
    expect(await tries(await withoutName(named[7]), ...named, unnamed)).to.deep.equal([false, 8]);
    expect(await tries(await signToken(named[9] ?? unnamed), ...named, unnamed)).to.deep.equal([true, 1]);
    expect(await tries(await signToken(same[9] ?? unnamed), ...same)).to.deep.equal([false, 8]);
  });

  it("a token is reported busy, not invalid, when no turn came for its signature", async () => {
    const noTurn: SignatureTurn = () => Promise.resolve("busy");
    expect(await verifyToken(await signToken(ed), keys, rules, nowMs, noTurn)).to.equal("token-checks-busy");
  });

  for (const [defect, token] of [
    ["token-malformed", () => "a.b.c"],
    ["token-algorithm", () => `${base64url({ alg: "HS256" })}.${base64url({})}.AA`],
    ["token-key", () => signToken(ed, {}, { kid: "unknown" })],
    ["token-signature", async () => (await signToken(ed)).replace(/[^.]+$/, "A".repeat(86))],
    ["token-expired", () => signToken(ed, { exp: now - 70 })],
    ["token-not-yet-valid", () => signToken(ed, { nbf: now + 70 })],
    ["token-issuer", () => signToken(ed, { iss: "https://other.example" })],
    ["token-audience", () => signToken(ed, { aud: "else" })],
    ["token-claims", () => signToken(ed, { exp: undefined as never })],
  ] as const) {
    it(`a token with the defect ${defect} is refused for that reason`, async () => {
      expect(await verifyToken(await token(), keys, rules, nowMs, atOnce)).to.equal(defect);
    });
  }

  it("a token of a foreign signer is refused for its signature, before its claims are read", async () => {
    const foreign = { ...makeKey("OKP", "EdDSA", "ed") };
    const token = await signToken(foreign, { exp: now - 70, iss: "https://other.example", aud: "else" });
    expect(await verifyToken(token, keys, rules, nowMs, atOnce)).to.equal("token-signature");
  });

  it("a token is not checked with a key that costs too much, even when the controller sent it", async () => {
    const large = { kty: "RSA", alg: "RS256", n: Buffer.alloc(2048, 0xff).toString("base64url"), e: "AQAB" };
    const slow = { ...rsa.public, e: Buffer.alloc(256, 0xff).toString("base64url") };
    const open = { ...rsa.public, e: "AQ" };
    const set = { keys: [large as PublicKey, slow, open] };
    expect(createVerificationKeys(set, undefined).keys).to.deep.equal([]);
  });

  /** Signs claims and headers that a careful signer would reject. */
  const signed = (header: object, claims: string): string => {
    const input = `${base64url({ alg: "EdDSA", kid: "ed", ...header })}.${Buffer.from(claims).toString("base64url")}`;
    return `${input}.${sign(null, Buffer.from(input), ed.private).toString("base64url")}`;
  };
  const claimsWith = (more: string): string =>
    `{"iss":"${rules.issuer}","aud":"shop","exp":${now + 600},${more}}`;

  for (const [what, claims, accepted] of [
    ["nested 10,000 deep", claimsWith(`"deep":${"[".repeat(10_000)}${"]".repeat(10_000)}`), true],
    ["with 3,000 audiences", claimsWith(`"aud":[${`"a",`.repeat(3_000)}"shop"]`), true],
    ["whose audiences are no texts", claimsWith(`"aud":[["shop"],{"shop":1}]`), false],
    ["with a time of expiry that is no number", claimsWith(`"exp":"9999999999"`), false],
    ["with two issuers, the last of them ours", `{"iss":"x",${claimsWith(`"a":1`).slice(1)}`, true],
    ["with two issuers, the first of them ours", claimsWith(`"iss":"x"`), false],
    ["whose claims are a list", "[]", false],
    ["whose claims are no JSON", "{", false],
  ] as const) {
    it(`a token ${what} is ${accepted ? "accepted" : "refused"}`, async () => {
      expect(await accepts(signed({}, claims))).to.equal(accepted);
    });
  }

  for (const [what, header] of [
    ["b64 as critical", { crit: ["b64"], b64: false }],
    ["an empty list of critical parameters", { crit: [] }],
    ["a registered parameter as critical", { crit: ["alg"] }],
    ["critical parameters that are no list", { crit: "exp" }],
    ["a kid that is no text", { kid: 1 }],
    ["an algorithm in another case", { alg: "eddsa" }],
  ] as const) {
    it(`a token with ${what} is refused, even with a signature that is right`, async () => {
      expect(await accepts(signed(header, claimsWith(`"a":1`)))).to.equal(false);
    });
  }

  it("a token is not accepted with another algorithm of the same key", async () => {
    expect(await accepts(await signToken({ ...rsa, public: { ...rsa.public, alg: "PS256" } }))).to.equal(
      false,
    );
  });

  it("a token is not accepted without a signature, or with one made of the public key", async () => {
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
    it(`a token ${what} is ${accepted ? "accepted" : "refused"}`, async () => {
      // A test may leave a claim out or give it a type that JWTPayload does not allow.
      const token = await signToken(ed, claims as JWTPayload);
      expect(await accepts(token)).to.equal(accepted);
    });
  }

  it("a token may have any audience where none is asked for", async () => {
    const token = await signToken(ed, { aud: "bank" });
    expect(await accepts(token, keys, { ...rules, audiences: [] })).to.equal(true);
  });

  it("a token with an unknown critical parameter is refused", async () => {
    const [, payload = "", signature = ""] = (await signToken(ed)).split(".");
    const header = base64url({ alg: "EdDSA", kid: "ed", crit: ["x"], x: 1 });
    expect(await accepts(`${header}.${payload}.${signature}`)).to.equal(false);
  });

  it("a token is refused when anything of it is changed, and the check never throws", async () => {
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

  it("claims of the top level that are text, numbers or booleans become headers", () => {
    const claimToHeaders = ["s", "n", "b", "list", "map", "nothing", "missing", "toString"].map((claim) => ({
      claim,
      header: `X-${claim}`,
    }));
    const claims = { s: "zoë", n: 1.5, b: false, list: ["a"], map: {}, nothing: null };
    expect(claimHeaders(valid(claims), { claimToHeaders, payloadHeader: "X-P" })).to.deep.equal([
      ...["X-s", "zo\xc3\xab", "X-n", "1.5", "X-b", "false", "X-P", "e30"],
    ]);
  });

  it("a claim can never end a header or begin another", () => {
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

  it("headers of claims are removed from the client's request in any spelling", () => {
    const headers = Fields.of(["X-User", "a", "x_user", "b", "X-USER", "c", "X-Users", "d", "X", "e"]);
    compileIdentityStripper(["x-user"])(headers);
    expect(headers.toList()).to.deep.equal(["X-Users", "d", "X", "e"]);
  });
});

describe("keys that a controller has not fetched yet", () => {
  const source = "https://id.example/jwks";
  const known = createVerificationKeys({ source, keys: [makeKey("OKP", "EdDSA").public] }, undefined);

  it("keys that the controller has not fetched yet are those that the proxy has of the same source", () => {
    expect(createVerificationKeys({ source }, known)).to.equal(known);
  });

  it("keys that the controller has not fetched yet are none where the source is another one or missing", () => {
    expect(createVerificationKeys({ source: "https://other.example/" }, known).keys).to.deep.equal([]);
    expect(createVerificationKeys({}, createVerificationKeys({ keys: [] }, undefined)).keys).to.deep.equal(
      [],
    );
    expect(createVerificationKeys({ source }, undefined).keys).to.deep.equal([]);
  });
});
