import { expect } from "chai";
import {
  createExampleCertificates,
  type ExampleCertificates,
} from "../../scripts/quickstart/certificates.ts";
import { issueCertificate } from "../../proxy/test/tls/certificates.ts";
import { echoed, send, type Reply, type SendOptions } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { tlsSecret } from "../support/tls-secret.ts";
import { until } from "../support/until.ts";

describe("auth-tls", () => {
  const sandbox = useSandbox("auth-tls");
  covers("auth-tls-secret", "auth-tls-verify-depth", "auth-tls-pass-certificate-to-upstream");
  covers("auth-tls-verify-client", "auth-tls-error-page", "auth-tls-match-subject");
  const host = "auth-tls.e2e.example";
  const openHost = "open.auth-tls.e2e.example";
  const base64 = (text: string): string => Buffer.from(text).toString("base64");

  let server: ExampleCertificates;
  let client: ExampleCertificates;
  let untrusted: ExampleCertificates;

  const authorities = (labels: object): object => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "clients", labels },
    type: "Opaque",
    data: { "ca.crt": base64(client.authorityPem) },
  });
  const usable = { "ingress.svc-labs.dev/auth-tls": "true" };
  const protectedIngress = (annotations: Readonly<Record<string, string>>): object =>
    ingress({
      name: "protected",
      host,
      tlsSecret: "tls",
      annotations: { "auth-tls-secret": `${sandbox.namespace}/clients`, ...annotations },
      paths: [{ service: "echo" }],
    });
  const sendTls = (options: Partial<SendOptions> = {}): Promise<Reply> =>
    send({ host, caPem: server.authorityPem, ...options });
  const outcome = (sending: Promise<Reply>): Promise<number | "refused"> =>
    sending.then(
      ({ status }) => status,
      () => "refused" as const,
    );
  const certificateField = (reply: Reply): string | undefined =>
    echoed(reply)?.headers.find(([name]) => name.toLowerCase() === "x-ssl-client-cert")?.[1];

  before(async () => {
    server = await createExampleCertificates([host, openHost]);
    client = await createExampleCertificates(["alice"], { usage: "client" });
    untrusted = await createExampleCertificates(["mallory"], { usage: "client" });
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      tlsSecret(server),
      authorities(usable),
      protectedIngress({ "auth-tls-pass-certificate-to-upstream": "true" }),
      ingress({ name: "open", host: openHost, tlsSecret: "tls", paths: [{ service: "echo" }] }),
    );
    await until("the host to be served", async () => (await outcome(sendTls({ identity: client }))) === 200);
    await until(
      "the other host to be served",
      async () => (await outcome(sendTls({ host: openHost }))) === 200,
    );
  });

  it("auth-tls: a client of the authority is accepted, and the backend receives its certificate", async () => {
    const forged = { "X-SSL-Client-Cert": "forged" };
    const field = certificateField(await sendTls({ identity: client, headers: forged }));
    expect(decodeURIComponent(field ?? "")).to.include("-----BEGIN CERTIFICATE-----");
    expect(field).to.match(/^(?:[A-Za-z0-9]|%[0-9A-F]{2})+$/);
  });

  it("auth-tls: clients without a certificate or with one of another authority fail the handshake", async () => {
    expect(await outcome(sendTls())).to.equal("refused");
    expect(await outcome(sendTls({ identity: untrusted }))).to.equal("refused");
  });

  it("auth-tls: a request over a connection for another host gets 421", async () => {
    expect(await outcome(sendTls({ serverName: openHost }))).to.equal(421);
    expect(await outcome(sendTls({ serverName: openHost, identity: client }))).to.equal(421);
  });

  it("auth-tls: HTTP without TLS and other hosts are not affected", async () => {
    expect((await send({ host })).status).to.equal(200);
    expect(
      certificateField(await sendTls({ host: openHost, headers: { X_SSL_Client_Cert: "forged" } })),
    ).to.equal(undefined);
  });

  it("auth-tls-verify-depth: the number of certificates up to the authority is limited", async () => {
    const root = issueCertificate(["root"], { ca: true });
    const between = issueCertificate(["between"], { ca: true, issuer: root });
    const { chainPem, keyPem } = issueCertificate(["bob"], { issuer: between });
    const sendAsBob = (): Promise<number | "refused"> =>
      outcome(sendTls({ identity: { certificatePem: chainPem, keyPem } }));
    const data = { "ca.crt": base64(root.leafPem) };
    await sandbox.apply(
      { apiVersion: "v1", kind: "Secret", metadata: { name: "roots", labels: usable }, type: "Opaque", data },
      protectedIngress({ "auth-tls-secret": `${sandbox.namespace}/roots`, "auth-tls-verify-depth": "2" }),
    );
    await until("two steps to be enough", async () => (await sendAsBob()) === 200);
    await sandbox.apply(protectedIngress({ "auth-tls-secret": `${sandbox.namespace}/roots` }));
    await until("one step to be too few", async () => (await sendAsBob()) === "refused");
    await sandbox.apply(protectedIngress({}));
    await until(
      "the first authority to count again",
      async () => (await outcome(sendTls({ identity: client }))) === 200,
    );
  });

  it("auth-tls-verify-client: clients are answered over HTTP, with a page and by their subject", async () => {
    const statusOf = (identity?: ExampleCertificates): Promise<number | "refused"> =>
      outcome(sendTls(identity === undefined ? {} : { identity }));
    await sandbox.apply(protectedIngress({ "auth-tls-verify-client": "on" }));
    await until("the handshake to succeed without a certificate", async () => (await statusOf()) === 400);
    expect(await statusOf(untrusted)).to.equal(400);
    expect(await statusOf(client)).to.equal(200);
    await sandbox.apply(
      protectedIngress({
        "auth-tls-verify-client": "on",
        "auth-tls-error-page": "https://help.e2e.example/",
        "auth-tls-match-subject": "CN=bob",
      }),
    );
    await until("the page to be shown", async () => (await statusOf()) === 302);
    expect(await statusOf(client)).to.equal(403);
    await sandbox.apply(protectedIngress({}));
    await until("handshakes to fail again", async () => (await statusOf()) === "refused");
  });

  it("auth-tls: every client fails the handshake while the Secret has no label", async () => {
    await sandbox.apply(authorities({ "ingress.svc-labs.dev/auth-tls": "false" }));
    await until(
      "the handshake to be refused",
      async () => (await outcome(sendTls({ identity: client }))) === "refused",
    );
    expect((await send({ host })).status).to.equal(200);
    await sandbox.apply(authorities(usable));
    await until(
      "the client to be let in",
      async () => (await outcome(sendTls({ identity: client }))) === 200,
    );
  });
});
