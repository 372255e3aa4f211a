import { once } from "node:events";
import { get as getPlain, type IncomingMessage } from "node:http";
import { get as getSecure } from "node:https";
import { expect } from "chai";
import { startEchoBackend, type EchoBackend } from "../../../scripts/echo/backend.ts";
import { createExampleCertificates } from "../../../scripts/quickstart/certificates.ts";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

/** A text that names its source, so that a log line with it shows what leaks. */
const marked = (what: string): string => `leak-of-${what}-${"x".repeat(24)}`;

const secret = (name: string, type: string, stringData: Readonly<Record<string, string>>): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, labels: { "ingress.svc-labs.dev/auth-basic": "true" } },
  type,
  stringData,
});

const jwtAuth = {
  apiVersion: "gateway.svc-labs.dev/v1alpha1",
  kind: "JwtAuth",
  metadata: { name: "id" },
  spec: {
    issuer: "https://id.example",
    jwks: { inline: { jwks: { keys: [{ kty: "oct", k: marked("symmetric-key") }] } } },
  },
};

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

const hash = `{SHA}${Buffer.from(marked("hash")).toString("base64").slice(0, 27)}=`;

/** Header fields of clients with secrets that must never be logged. */
const headers: readonly Readonly<Record<string, string>>[] = [
  { authorization: basic("alice", marked("password")) },
  { authorization: basic("nobody", marked("password")) },
  { authorization: `Bearer ${marked("token")}` },
  { authorization: `Bearer ${marked("header")}.${marked("payload")}.${marked("signature")}` },
  { authorization: marked("scheme"), cookie: `session=${marked("cookie")}` },
  { "proxy-authorization": basic("alice", marked("proxy-password")), cookie: `a=${marked("cookie")}` },
];

/** Base64 lines are secret, the words around them are not. */
const linesOf = (pem: string): readonly string[] =>
  pem.split("\n").filter((line) => /^[\w+/=]{32,}$/.test(line));

describe("logs of serve standalone", () => {
  let backend: EchoBackend;
  before(async () => (backend = await startEchoBackend({ name: "a" })));
  after(() => backend.close());

  it("the logs of serve standalone contain no secret at any level", async () => {
    const { certificatePem, keyPem } = await createExampleCertificates(["tls.example.com"]);
    const other = await createExampleCertificates(["other.example.com"]);
    const broken = "-----BEGIN PRIVATE KEY-----\n";
    const key = "ingress.svc-labs.dev/";
    const to = [{ path: "/", service: "a" }];
    const manifests = listOf(
      secret("tls", "kubernetes.io/tls", { "tls.crt": certificatePem, "tls.key": keyPem }),
      secret("cut", "kubernetes.io/tls", {
        "tls.crt": certificatePem,
        "tls.key": `${broken}${marked("key")}`,
      }),
      secret("swapped", "kubernetes.io/tls", { "tls.crt": other.keyPem, "tls.key": other.keyPem }),
      secret("other", "kubernetes.io/tls", { "tls.crt": certificatePem, "tls.key": other.keyPem }),
      secret("users", "Opaque", {
        auth: `alice:${hash}\nbob:${marked("unknown-hash")}\n${marked("line")}\n`,
      }),
      jwtAuth,
      ...serviceManifests("a", [backend.port]),
      ...["tls", "cut", "swapped", "other"].map((name) =>
        ingressManifest(name, `${name}.example.com`, to, { tlsSecret: name }),
      ),
      ingressManifest("basic", "basic.example.com", to, {
        annotations: { [`${key}auth-basic-secret`]: "default/users" },
      }),
      ingressManifest("jwt", "jwt.example.com", to, { annotations: { [`${key}auth-jwt`]: "default/id" } }),
      ingressManifest("wrong", "wrong.example.com", to, {
        annotations: { [`${key}request-header-set`]: `Authorization: ${marked("header-value")}\nbad header` },
      }),
    );
    const flags = ["--log", "trace"];
    await withGateway({ manifests: { "all.json": manifests }, flags }, async (gateway) => {
      const hosts = ["basic", "jwt", "wrong", "missing", "tls"].map((name) => `${name}.example.com`);
      let count = 0;
      for (const host of hosts) {
        for (const sent of headers) {
          const request = getPlain({
            port: gateway.httpPort,
            host: "127.0.0.1",
            headers: { host, ...sent },
          });
          const [response] = (await once(request, "response")) as [IncomingMessage];
          response.resume();
          await once(response, "end");
          count++;
        }
      }
      const secure = getSecure({
        port: gateway.httpsPort,
        host: "127.0.0.1",
        servername: "tls.example.com",
        rejectUnauthorized: false,
        headers: { host: "tls.example.com", authorization: `Bearer ${marked("token")}` },
      });
      const [response] = (await once(secure, "response")) as [IncomingMessage];
      response.resume();
      const accessLines = (): number =>
        gateway.logLines.filter((line) => line["target"] === "svc_proxy::access").length;
      await gateway.log(() => accessLines() > count);
      const text = gateway.logLines.map((line) => JSON.stringify(line)).join("\n");
      const secrets = [...linesOf(keyPem), ...linesOf(other.keyPem), hash, "leak-of-"];
      for (const one of secrets) {
        const at = text.indexOf(one);
        expect(at < 0 ? "" : text.slice(Math.max(0, at - 300), at + 60)).to.equal("");
      }
      for (const sent of headers) {
        for (const value of Object.values(sent)) {
          expect(text).not.to.include(value.replace(/^(Basic|Bearer) /, ""));
        }
      }
    });
  });
});
