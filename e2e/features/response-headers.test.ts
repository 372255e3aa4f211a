import { expect } from "chai";
import { createExampleCertificates } from "../../scripts/quickstart/certificates.ts";
import { send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { tlsSecret } from "../support/tls-secret.ts";
import { until } from "../support/until.ts";

describe("response-headers", () => {
  const sandbox = useSandbox("response-headers");
  covers("response-header-set", "response-header-add", "response-header-remove");
  covers("response-header-set-tls", "response-header-request-id");
  covers("response-cookie-domain", "response-cookie-path", "response-location");
  const host = "response-headers.e2e.example";

  let authorityPem = "";

  before(async () => {
    const certificates = await createExampleCertificates([host]);
    ({ authorityPem } = certificates);
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(tlsSecret(certificates));
    await sandbox.apply(
      ingress({
        name: "changed",
        host,
        tlsSecret: "tls",
        annotations: {
          "response-header-set": "Content-Type: text/plain\nX-Frame-Options: DENY",
          "response-header-add": "Set-Cookie: a=1\nSet-Cookie: b=2",
          "response-header-remove": "Echo-Backend",
          "response-header-set-tls": "Strict-Transport-Security: max-age=60",
          "response-header-request-id": "Request-Id",
        },
        paths: [{ service: "echo" }, { path: "/none", service: "none" }],
      }),
    );
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("response-headers: headers of the response are set, added and removed", async () => {
    const { status, headers } = await send({ host });
    expect(status).to.equal(200);
    expect(headers).to.deep.include({
      "content-type": "text/plain",
      "x-frame-options": "DENY",
      "set-cookie": ["a=1", "b=2"],
    });
    expect(headers["request-id"]).to.match(/^[0-9a-f]{32}$/);
    expect(headers).not.to.have.property("echo-backend");
    expect(headers).not.to.have.property("strict-transport-security");
  });

  it("response-headers: headers that are set over TLS are on responses over TLS", async () => {
    const { value: headers } = await until("the certificate", async () => {
      const reply = await send({ host, caPem: authorityPem });
      return reply.status === 200 && reply.headers;
    });
    expect(headers["strict-transport-security"]).to.equal("max-age=60");
  });

  it("response-headers: headers of the gateway's own responses are changed, too", async () => {
    const { status, headers } = await send({ host, path: "/none" });
    expect(status).to.equal(503);
    expect(headers["x-frame-options"]).to.equal("DENY");
  });

  it("response-headers: cookies and redirects of a backend are those of the public host", async () => {
    const publicHost = "public.response-headers.e2e.example";
    await deployEcho(sandbox, { name: "inner", program: "internal-address-server.ts", replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "public",
        host: publicHost,
        annotations: {
          "response-cookie-domain": `internal.example ${publicHost}`,
          "response-cookie-path": "/app /shop",
          "response-location": `http://internal.example:8080/app/ http://${publicHost}/shop/`,
        },
        paths: [{ service: "inner" }],
      }),
    );
    const { value } = await until("the redirect", async () => {
      const reply = await send({ host: publicHost });
      return reply.status === 302 && reply;
    });
    expect(value.headers).to.deep.include({
      location: `http://${publicHost}/shop/next?from=/app`,
      "set-cookie": [`sid=1; Domain=${publicHost}; Path=/shop/x; HttpOnly`],
    });
  });
});
