import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("compression", () => {
  const sandbox = useSandbox("compression");
  covers("compression");
  const host = "compression.e2e.example";
  const policy = (spec: object): object => ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "Compression",
    metadata: { name: "json" },
    spec,
  });
  const encodingFor = async (accepts: string): Promise<string | undefined> =>
    (await send({ host, headers: { "accept-encoding": accepts } })).headers["content-encoding"];

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      policy({ gzip: true, minSize: 1 }),
      ingress({
        name: "compression",
        host,
        annotations: { compression: `${sandbox.namespace}/json` },
        paths: [{ service: "echo" }],
      }),
    );
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("compression: a response is compressed for clients that accept the coding", async () => {
    await until("the policy", async () => (await encodingFor("gzip")) === "gzip");
    const { bytes } = await send({ host, headers: { "accept-encoding": "gzip" } });
    expect(JSON.parse(gunzipSync(bytes).toString("utf8"))).to.include({ host });
  });

  it("compression: a response is not compressed for other clients", async () => {
    const reply = await send({ host, headers: { "accept-encoding": "br, gzip;q=0" } });
    expect(reply.headers).not.to.have.property("content-encoding");
    expect(reply.headers.vary).to.equal("Accept-Encoding");
    expect(echoed(reply)?.host).to.equal(host);
  });

  it("compression: a changed policy applies, and brotli is preferred", async () => {
    await sandbox.apply(policy({ gzip: true, brotli: true, minSize: 1 }));
    await until("brotli", async () => (await encodingFor("gzip, br")) === "br");
    await sandbox.delete("compressions.gateway.svc-labs.dev", "json");
    await until("the end of compression", async () => (await encodingFor("gzip, br")) === undefined);
  });
});
