import { expect } from "chai";
import { fieldsOf, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("request-headers", () => {
  const sandbox = useSandbox("request-headers");
  covers("request-header-set", "request-header-add", "request-header-remove");
  const host = "request-headers.e2e.example";
  const sent = { "x-set": "client", "x-add": "client", "x-removed": "client", "x-kept": "client" };
  const serve = (annotations: Readonly<Record<string, string>>): Promise<void> =>
    sandbox.apply(ingress({ name: "changed", host, annotations, paths: [{ service: "echo" }] }));

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await serve({
      "request-header-set": "X-Set: a, b\nHost: internal.example",
      "request-header-add": "X-Add: gateway\nX-Removed: gateway",
      "request-header-remove": "X-Removed, Connection",
    });
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("request-headers: headers are set, added and then removed in the request to the backend", async () => {
    const reply = await send({ host, headers: sent });
    expect(fieldsOf(reply, "x-set")).to.deep.equal(["a, b"]);
    expect(fieldsOf(reply, "x-add").join(", ")).to.equal("client, gateway");
    expect(fieldsOf(reply, "x-removed")).to.deep.equal([]);
    expect(fieldsOf(reply, "x-kept")).to.deep.equal(["client"]);
    expect(fieldsOf(reply, "host")).to.deep.equal(["internal.example"]);
    expect(fieldsOf(reply, "x-forwarded-host")).to.deep.equal([host]);
  });

  it("request-headers: an invalid line is reported and changes no header, and the Ingress is served", async () => {
    await serve({
      "request-header-set": "X-Set: gateway\nno field",
      "request-header-remove": "X-Removed",
    });
    await until(
      "the changed Ingress",
      async () => fieldsOf(await send({ host, headers: sent }), "host")[0] === host,
    );
    const reply = await send({ host, headers: sent });
    expect(fieldsOf(reply, "x-set")).to.deep.equal(["client"]);
    expect(fieldsOf(reply, "x-removed")).to.deep.equal(["client"]);
  });
});
