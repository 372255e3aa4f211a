import { expect } from "chai";
import { send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("response-headers", () => {
  const sandbox = useSandbox("response-headers");
  covers("response-header-set", "response-header-add", "response-header-remove");
  const host = "response-headers.e2e.example";

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "changed",
        host,
        annotations: {
          "response-header-set": "Content-Type: text/plain\nX-Frame-Options: DENY",
          "response-header-add": "Set-Cookie: a=1\nSet-Cookie: b=2",
          "response-header-remove": "Echo-Backend",
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
    expect(headers).not.to.have.property("echo-backend");
  });

  it("response-headers: headers of the gateway's own responses are changed, too", async () => {
    const { status, headers } = await send({ host, path: "/none" });
    expect(status).to.equal(503);
    expect(headers["x-frame-options"]).to.equal("DENY");
  });
});
