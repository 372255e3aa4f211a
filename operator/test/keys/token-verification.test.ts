import { expect } from "chai";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";
import { createTokenVerification } from "../../src/keys/token-verification.ts";
import { createFakeClient, type FakeCall } from "../support/fake-client.ts";
import { createTestClock } from "../support/test-clock.ts";

const signal = new AbortController().signal;
const audience = "svc-discovery";
const issuer = "https://kubernetes.default.svc";
const subject = "system:serviceaccount:svc-system:svc-shared-proxy";
const podClaim = { namespace: "svc-system", pod: { name: "proxy-0", uid: "uid-1" } };
const nowMs = Date.UTC(2030, 0, 1);

const runningPod = {
  metadata: { uid: "uid-1" },
  spec: { serviceAccountName: "svc-shared-proxy" },
  status: { phase: "Running" },
};

type Key = { readonly privateKey: CryptoKey; readonly jwk: JWK };

async function makeKey(kid: string): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256" } };
}

type TokenParts = {
  readonly sub?: string;
  readonly aud?: string;
  readonly iss?: string;
  readonly expiresInS?: number;
  readonly kubernetes?: object;
};

const sign = ({ privateKey, jwk }: Key, parts: TokenParts = {}): Promise<string> => {
  const { sub = subject, aud = audience, iss = issuer, expiresInS = 600, kubernetes = podClaim } = parts;
  return new SignJWT({ "kubernetes.io": kubernetes })
    .setProtectedHeader({ alg: "ES256", kid: jwk.kid ?? "" })
    .setSubject(sub)
    .setAudience(aud)
    .setIssuer(iss)
    .setExpirationTime(nowMs / 1000 + expiresInS)
    .sign(privateKey);
};

describe("createTokenVerification", () => {
  let key: Key;
  before(async () => {
    key = await makeKey("k1");
  });

  /** A client of an API server with these keys and pods. */
  const apiServer = (
    keys: () => readonly JWK[],
    pods: object | number = { items: [runningPod] },
  ): ReturnType<typeof createFakeClient> =>
    createFakeClient(({ path }: FakeCall) => {
      if (path === "/.well-known/openid-configuration") return { issuer };
      return path === "/openid/v1/jwks" ? { keys: keys() } : pods;
    });

  const verify = async (token: string, pods?: object | number) => {
    const review = createTokenVerification(
      apiServer(() => [key.jwk], pods),
      { nowMs: () => nowMs },
    );
    return review(token, audience, signal);
  };
  const reasonOf = async (token: string, pods?: object | number): Promise<string> => {
    const reviewed = await verify(token, pods);
    return reviewed.ok ? "accepted" : reviewed.error.reason;
  };

  it("a token that the API server has signed is that of its service account and its running pod", async () => {
    expect(await verify(await sign(key))).to.deep.equal({
      ok: true,
      value: {
        namespace: "svc-system",
        serviceAccount: "svc-shared-proxy",
        pod: { name: "proxy-0", uid: "uid-1" },
      },
    });
  });

  it("the keys are read once for many tokens, and no request leaves the namespace of the pod", async () => {
    const client = apiServer(() => [key.jwk]);
    const review = createTokenVerification(client, { nowMs: () => nowMs });
    for (let count = 0; count < 3; count++) await review(await sign(key), audience, signal);
    const paths = client.calls.map(({ path }) => path);
    expect(paths.filter((path) => path === "/openid/v1/jwks")).to.have.length(1);
    expect(new Set(paths)).to.deep.equal(
      new Set(["/.well-known/openid-configuration", "/openid/v1/jwks", "/api/v1/namespaces/svc-system/pods"]),
    );
    expect(client.calls.at(-1)?.query).to.deep.equal({ fieldSelector: "metadata.name=proxy-0" });
  });

  it("a token of another audience, issuer, key or time is rejected", async () => {
    const stranger = await makeKey("k1");
    expect(await reasonOf(await sign(key, { aud: "other" }))).to.equal("sa_token");
    expect(await reasonOf(await sign(key, { iss: "https://elsewhere" }))).to.equal("sa_token");
    expect(await reasonOf(await sign(stranger))).to.equal("sa_token");
    expect(await reasonOf(await sign(key, { expiresInS: -1 }))).to.equal("sa_token");
    expect(await reasonOf("a.b.c")).to.equal("sa_token");
    expect(await reasonOf(`${Buffer.from('{"alg":"none"}').toString("base64url")}.e30.`)).to.equal(
      "sa_token",
    );
  });

  it("a token of a user, and one without a pod, are rejected", async () => {
    expect(await reasonOf(await sign(key, { sub: "alice" }))).to.equal("invalid_principal");
    expect(await reasonOf(await sign(key, { kubernetes: { namespace: "svc-system" } }))).to.equal("sa_token");
    const escaping = { pod: { name: "../secrets", uid: "uid-1" } };
    expect(await reasonOf(await sign(key, { kubernetes: escaping }))).to.equal("sa_token");
  });

  it("a token ends with its pod: deleted, ended, made again, or of another service account", async () => {
    const token = await sign(key);
    expect(await reasonOf(token, { items: [] })).to.equal("sa_token");
    expect(await reasonOf(token, { items: [{ ...runningPod, status: { phase: "Failed" } }] })).to.equal(
      "sa_token",
    );
    expect(await reasonOf(token, { items: [{ ...runningPod, metadata: { uid: "uid-2" } }] })).to.equal(
      "sa_token",
    );
    expect(
      await reasonOf(token, { items: [{ ...runningPod, spec: { serviceAccountName: "other" } }] }),
    ).to.equal("sa_token");
  });

  it("a pod that may not be read rejects the token, and an API server that fails is no rejection", async () => {
    const token = await sign(key);
    expect(await reasonOf(token, 403)).to.equal("sa_token");
    expect(await reasonOf(token, 500)).to.equal("token_review_error");
  });

  it("keys that may not be read are named with the binding that gives them", async () => {
    const review = createTokenVerification(createFakeClient(() => 403));
    const reviewed = await review(await sign(key), audience, signal);
    if (reviewed.ok) throw new Error("accepted");
    expect(reviewed.error.reason).to.equal("token_review_error");
    expect(reviewed.error.message).to.include("system:service-account-issuer-discovery");
  });

  it("a token of a new key is accepted after the keys are read again, which is done every ten seconds at most", async () => {
    const clock = createTestClock();
    const next = await makeKey("k2");
    let keys: readonly JWK[] = [key.jwk];
    const client = apiServer(() => keys);
    const review = createTokenVerification(client, { clock, nowMs: () => nowMs });
    const reads = (): number => client.calls.filter(({ path }) => path === "/openid/v1/jwks").length;
    const token = await sign(next);
    expect((await review(token, audience, signal)).ok).to.equal(false);
    keys = [key.jwk, next.jwk];
    expect((await review(token, audience, signal)).ok).to.equal(false);
    expect(reads()).to.equal(1);
    await clock.advance(10_000);
    expect((await review(token, audience, signal)).ok).to.equal(true);
    expect(reads()).to.equal(2);
  });
});
