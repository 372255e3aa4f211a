import { expect } from "chai";
import { fieldsOf, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("forwarding-fields", () => {
  const sandbox = useSandbox("forwarding-fields");
  covers("forwarding-fields");
  const host = "forwarding-fields.e2e.example";

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "fields",
        host,
        annotations: {
          "forwarding-fields": "request-id,scheme,original,original-uri,without-via,plain-names",
        },
        paths: [{ service: "echo" }],
      }),
    );
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("forwarding-fields: the backend gets an id of the request, the scheme and the client's own fields", async () => {
    const headers = { "x-forwarded-for": "203.0.113.5", under_score: "1", "x-scheme": "ftp" };
    const reply = await send({ host, path: "/a?b=c", headers });
    expect(fieldsOf(reply, "x-request-id").join()).to.match(/^[0-9a-f]{32}$/);
    expect(fieldsOf(reply, "x-scheme")).to.deep.equal(["http"]);
    expect(fieldsOf(reply, "x-forwarded-scheme")).to.deep.equal(["http"]);
    expect(fieldsOf(reply, "x-original-forwarded-for")).to.deep.equal(["203.0.113.5"]);
    expect(fieldsOf(reply, "x-original-uri")).to.deep.equal(["/a?b=c"]);
    expect(fieldsOf(reply, "via")).to.deep.equal([]);
    expect(fieldsOf(reply, "under_score")).to.deep.equal([]);
  });

  it("forwarding-fields: the id that a client sends goes on", async () => {
    const reply = await send({ host, headers: { "x-request-id": "mine" } });
    expect(fieldsOf(reply, "x-request-id")).to.deep.equal(["mine"]);
  });
});
