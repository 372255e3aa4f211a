import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { expect } from "chai";
import { echoed, send, type Reply } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

const issuer = "https://id.e2e.example";

/** A token of RFC 7519 with EdDSA (RFC 8037). */
function tokenOf(key: KeyObject, claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${part({ alg: "EdDSA" })}.${part({ iss: issuer, ...claims })}`;
  return `${input}.${sign(null, Buffer.from(input), key).toString("base64url")}`;
}

describe("auth-jwt", () => {
  const sandbox = useSandbox("auth-jwt");
  covers("auth-jwt");
  const host = "auth-jwt.e2e.example";
  const first = generateKeyPairSync("ed25519");
  const second = generateKeyPairSync("ed25519");
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const ask = (token?: string, headers: Record<string, string> = {}): Promise<Reply> =>
    send({ host, headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) } });
  const jwtAuth = (key: KeyObject): object => ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "JwtAuth",
    metadata: { name: "id" },
    spec: {
      issuer,
      jwks: { inline: { jwks: { keys: [key.export({ format: "jwk" })] } } },
      claimToHeaders: [{ claim: "sub", header: "X-User" }],
    },
  });

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "secured",
        host,
        annotations: { "auth-jwt": `${sandbox.namespace}/id` },
        paths: [{ service: "echo" }],
      }),
    );
  });

  it("auth-jwt: requests get 503 while the JwtAuth does not exist", async () => {
    await until("the Ingress to be served", async () => (await ask()).status !== 404);
    expect((await ask(tokenOf(first.privateKey, { exp }))).status).to.equal(503);
  });

  it("auth-jwt: a valid token is accepted, its claim reaches the backend, and others get 401", async () => {
    await sandbox.apply(jwtAuth(first.publicKey));
    await until("the keys", async () => (await ask()).status === 401);
    expect((await ask()).headers["www-authenticate"]).to.equal("Bearer");
    expect((await ask(tokenOf(second.privateKey, { exp }))).status).to.equal(401);
    expect((await ask(tokenOf(first.privateKey, { exp: 1 }))).status).to.equal(401);
    const accepted = await ask(tokenOf(first.privateKey, { exp, sub: "alice" }), { "x-user": "root" });
    const fields = (echoed(accepted)?.headers ?? []).map(
      ([name, value]) => `${name.toLowerCase()}: ${value}`,
    );
    expect(fields.filter((field) => /^(x-user|authorization):/.test(field))).to.deep.equal(["x-user: alice"]);
  });

  it("auth-jwt: a rotated key applies", async () => {
    await sandbox.apply(jwtAuth(second.publicKey));
    const next = tokenOf(second.privateKey, { exp, sub: "bob" });
    await until("the new key", async () => (await ask(next)).status === 200);
    expect((await ask(tokenOf(first.privateKey, { exp }))).status).to.equal(401);
  });
});
