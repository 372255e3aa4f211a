import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("max-body-size", () => {
  const sandbox = useSandbox("max-body-size");
  covers("max-body-size");
  const host = "max-body-size.e2e.example";
  const post = (bytes: number): ReturnType<typeof send> =>
    send({ host, method: "POST", body: Buffer.alloc(bytes, "x") });

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({ name: "capped", host, annotations: { "max-body-size": "1k" }, paths: [{ service: "echo" }] }),
    );
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("max-body-size: a body of exactly the limit is forwarded", async () => {
    expect(echoed(await post(1024))?.bodyBytes).to.equal(1024);
  });

  it("max-body-size: a body of one byte more gets 413", async () => {
    const reply = await post(1025);
    expect([reply.status, reply.headers["echo-backend"]]).to.deep.equal([413, undefined]);
  });

  it("max-body-size: a changed limit applies", async () => {
    await sandbox.apply(
      ingress({ name: "capped", host, annotations: { "max-body-size": "2k" }, paths: [{ service: "echo" }] }),
    );
    await until("the new limit", async () => (await post(1025)).status === 200);
    expect((await post(2049)).status).to.equal(413);
  });
});
