import { expect } from "chai";
import { fieldsOf, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("error-pages", () => {
  const sandbox = useSandbox("error-pages");
  covers("error-pages", "error-pages-backend");
  const host = "error-pages.e2e.example";

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "pages",
        host,
        annotations: {
          "error-pages": "403,503",
          "error-pages-backend": `echo.${sandbox.namespace}`,
          "max-body-size": "10",
        },
        paths: [{ service: "echo" }, { path: "/none", service: "none" }],
      }),
    );
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("error-pages: the Service takes requests whose backend does not exist, with the status in a header", async () => {
    const reply = await send({ host, path: "/none/x" });
    expect(reply.status).to.equal(200);
    expect(fieldsOf(reply, "x-code")).to.deep.equal(["503"]);
    expect(fieldsOf(reply, "x-namespace")).to.deep.equal([sandbox.namespace]);
  });

  it("error-pages: a status that is not listed is answered by the gateway", async () => {
    expect((await send({ host, method: "POST", body: "more than ten bytes" })).status).to.equal(413);
  });
});
