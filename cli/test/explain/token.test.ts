import { createHmac, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runInside } from "../support.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const keys = JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), alg: "ES256", kid: "a" }] });

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function tokenOf(
  claims: object,
  header: object = { alg: "ES256", kid: "a" },
  key: KeyObject = privateKey,
): string {
  const signed = `${encode(header)}.${encode({ iss: "https://id.example", exp: 4_102_444_800, ...claims })}`;
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

const manifests = (jwks: string): string => `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: { name: svc }
spec: { controller: svc-labs.dev/gateway-controller }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web, namespace: shop, annotations: { ingress.svc-labs.dev/auth-jwt: shop/staff } }
spec:
  ingressClassName: svc
  rules:
    - host: shop.example.com
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: echo, port: { number: 80 } } } }] }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: open, namespace: shop }
spec:
  ingressClassName: svc
  rules:
    - host: open.example.com
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: echo, port: { number: 80 } } } }] }
---
apiVersion: gateway.svc-labs.dev/v1alpha1
kind: JwtAuth
metadata: { name: staff, namespace: shop }
spec:
  issuer: https://id.example
  audiences: [shop]
  forward: true
  jwks: ${jwks}
---
apiVersion: v1
kind: Service
metadata: { name: echo, namespace: shop }
spec: { ports: [{ name: http, port: 80, targetPort: 8080 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: echo-1, namespace: shop, labels: { kubernetes.io/service-name: echo } }
addressType: IPv4
ports: [{ name: http, port: 8080, protocol: TCP }]
endpoints: [{ addresses: [10.0.0.1], conditions: { ready: true } }]
`;

describe("explain --token", () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "token-"));
    await writeFile(join(folder, "inline.yaml"), manifests(`{ inline: { jwks: ${keys} } }`));
    await writeFile(join(folder, "remote.yaml"), manifests("{ remote: { uri: https://id.example/keys } }"));
  });

  after(() => rm(folder, { recursive: true }));

  const explain = (
    token: string,
    options: { file?: string; url?: string } = {},
    ...flags: readonly string[]
  ) => {
    const { file = "inline.yaml", url = "http://shop.example.com/" } = options;
    return runInside(["explain", url, "--manifests", join(folder, file), `--token=${token}`, ...flags]);
  };

  it("a valid token is accepted, and neither it nor its parts are printed", async () => {
    const token = tokenOf({ aud: "shop" });
    const { code, out, err } = await explain(token);
    expect(code).to.equal(0);
    expect(out).to.include("accepted by JwtAuth shop/staff: it is valid until 2100-01-01T00:01:00.000Z");
    expect(out).to.include("Authorization: Bearer <token>");
    for (const part of token.split(".")) expect(out + err).to.not.include(part);
  });

  const cases: readonly (readonly [string, string, string])[] = [
    ["of another audience", tokenOf({ aud: "bank" }), "token-audience"],
    ["of another issuer", tokenOf({ aud: "shop", iss: "https://other" }), "token-issuer"],
    ["that has expired", tokenOf({ aud: "shop", exp: 1 }), "token-expired"],
    ["that is not valid yet", tokenOf({ aud: "shop", nbf: 4_000_000_000 }), "token-not-yet-valid"],
    ["of an unknown key", tokenOf({ aud: "shop" }, { alg: "ES256", kid: "b" }), "token-key"],
    ["without an algorithm", tokenOf({ aud: "shop" }, { alg: "none" }), "token-algorithm"],
    [
      "of another signer",
      tokenOf({ aud: "shop" }, undefined, generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey),
      "token-signature",
    ],
    ["that is none", createHmac("sha256", "x").digest("hex"), "token-malformed"],
  ];
  for (const [name, token, reason] of cases) {
    it(`a token ${name} is refused with the reason of the access log`, async () => {
      const { out, err } = await explain(token, {}, "--output=json");
      const answer = JSON.parse(out) as { token: object[]; reply: object; upstream: object[] };
      expect(answer.token[0]).to.include({ jwtAuth: "shop/staff", verdict: "refused", reason });
      expect(answer.reply).to.include({ by: "auth-jwt", status: 401 });
      expect(answer.upstream).to.deep.equal([]);
      for (const part of token.split(".")) if (part !== "") expect(out + err).to.not.include(part);
    });
  }

  it("a token for keys that are fetched is not decided", async () => {
    const { out } = await explain(tokenOf({ aud: "shop" }), { file: "remote.yaml" });
    expect(out).to.include(
      "not decided by JwtAuth shop/staff: its keys are fetched from https://id.example/keys",
    );
  });

  it("a JwtAuth that cannot be used decides nothing about a token", async () => {
    await writeFile(join(folder, "broken.yaml"), manifests("{ inline: { jwks: 1 } }"));
    const { out } = await explain(tokenOf({ aud: "shop" }), { file: "broken.yaml" });
    expect(out)
      .to.include("not looked at: the route has a JwtAuth that cannot be used")
      .and.include("answered 503");
  });

  it("a route without JwtAuth does not look at a token", async () => {
    const { out } = await explain(tokenOf({}), { url: "http://open.example.com/" });
    expect(out).to.include("not looked at: no JwtAuth of the route takes one");
    expect(out).to.not.include("<token>");
  });

  it("a token is read from a file, with or without Bearer before it", async () => {
    const path = join(folder, "token.txt");
    await writeFile(path, `Bearer ${tokenOf({ aud: "shop" })}\n`);
    expect((await explain(`@${path}`)).out).to.include("accepted by JwtAuth shop/staff");
  });

  it("a file that cannot be read, and a token for a connection, are mistakes", async () => {
    const missing = await explain("@/no/such/file");
    expect([missing.code, missing.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 2 && err.includes("ENOENT"),
    );
    const connection = await explain("secret", { url: "tcp://shop.example.com:80" });
    expect(connection.code).to.equal(2);
    expect(connection.err).to.include("--token: only requests have a token").and.not.include("secret");
  });
});
