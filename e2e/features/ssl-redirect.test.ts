import { expect } from "chai";
import { createExampleCertificates } from "../../scripts/quickstart/certificates.ts";
import { send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { tlsSecret } from "../support/tls-secret.ts";
import { until } from "../support/until.ts";

describe("ssl-redirect", () => {
  const sandbox = useSandbox("ssl-redirect");
  covers("ssl-redirect", "ssl-redirect-code");
  const host = "ssl-redirect.e2e.example";
  let authorityPem = "";

  const serve = (annotations: Readonly<Record<string, string>>): Promise<void> =>
    sandbox.apply(
      ingress({ name: "secure", host, tlsSecret: "tls", annotations, paths: [{ service: "echo" }] }),
    );

  before(async () => {
    const certificates = await createExampleCertificates([host]);
    ({ authorityPem } = certificates);
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(tlsSecret(certificates));
    await serve({ "ssl-redirect": "TRUE" });
    await until("the Ingress to be served", async () => (await send({ host })).status === 308);
  });

  it("ssl-redirect: a request on the HTTP listener is redirected to https, where it is served", async () => {
    const { status, headers, body } = await send({ host, path: "/a?b=c", method: "POST", body: "x" });
    expect([status, headers.location, body]).to.deep.equal([308, `https://${host}/a?b=c`, ""]);
    await until("the certificate", async () => (await send({ host, caPem: authorityPem })).status === 200);
  });

  it("ssl-redirect-code: the configured status is used", async () => {
    await serve({ "ssl-redirect": "true", "ssl-redirect-code": "301" });
    await until("the new status", async () => (await send({ host })).status === 301);
  });

  it("ssl-redirect: a request is served without redirect when it is off", async () => {
    await serve({ "ssl-redirect": "false" });
    await until("the Ingress to be served as it is", async () => (await send({ host })).status === 200);
  });
});
