import { X509Certificate } from "node:crypto";
import { expect } from "chai";
import {
  createExampleCertificates,
  type ExampleCertificates,
} from "../../scripts/quickstart/certificates.ts";
import { echoed, send, type Reply } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { tlsSecret } from "../support/tls-secret.ts";
import { until } from "../support/until.ts";

describe("TLS", () => {
  const sandbox = useSandbox("tls");
  const host = "tls.e2e.example";
  const fingerprintOf = ({ certificatePem }: ExampleCertificates): string =>
    new X509Certificate(certificatePem).fingerprint256;
  const sendTls = (certificates: ExampleCertificates): Promise<Reply> =>
    send({ host, caPem: certificates.authorityPem });

  let first: ExampleCertificates;

  before(async () => {
    first = await createExampleCertificates([host]);
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      tlsSecret(first),
      ingress({ name: "tls", host, tlsSecret: "tls", paths: [{ service: "echo" }] }),
    );
    await until("the certificate to be served", async () => (await sendTls(first)).status === 200);
  });

  it("the certificate of the Secret is shown, and the backend gets X-Forwarded-Proto https", async () => {
    const reply = await sendTls(first);
    expect(reply.fingerprint).to.equal(fingerprintOf(first));
    const fields = new Map(echoed(reply)?.headers.map(([name, value]) => [name.toLowerCase(), value]));
    expect(fields.get("x-forwarded-proto")).to.equal("https");
  });

  it("an Ingress with TLS is also served without TLS on the HTTP port", async () => {
    expect((await send({ host })).status).to.equal(200);
  });

  it("a new certificate is shown without a restart", async () => {
    const second = await createExampleCertificates([host]);
    await sandbox.apply(tlsSecret(second));
    const { value } = await until("the new certificate", async () => {
      const reply = await sendTls(second);
      return reply.fingerprint === fingerprintOf(second) && reply;
    });
    expect(value.status).to.equal(200);
    first = second;
  });

  it("the handshake for a name without certificate fails with unrecognized_name", async () => {
    const unknown = send({ host: "unknown.e2e.example", caPem: first.authorityPem });
    const outcome = await unknown.then(
      ({ status }) => `status ${status}`,
      (error: Error) => error.message,
    );
    expect(outcome).to.include("unrecognized name");
  });

  it("TLS is no longer served when the Secret is deleted, and HTTP continues", async () => {
    await sandbox.delete("secret", "tls");
    await until("the handshake to fail", () =>
      sendTls(first).then(
        () => false,
        () => true,
      ),
    );
    expect((await send({ host })).status).to.equal(200);
    await sandbox.apply(tlsSecret(first));
    await until("TLS to be back", async () => (await sendTls(first)).status === 200);
  });
});
