import { expect } from "chai";
import { echoed, send, type Reply } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("ext-auth", () => {
  const sandbox = useSandbox("ext-auth");
  covers("ext-auth");
  const host = "ext-auth.e2e.example";
  const ask = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    send({ host, path, headers });

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "secured",
        host,
        annotations: { "ext-auth": `${sandbox.namespace}/gate` },
        paths: [{ service: "echo" }],
      }),
    );
  });

  it("answers 503 as long as the SvcExternalAuth does not exist", async () => {
    await until("the Ingress to be served", async () => (await ask("/")).status !== 404);
    expect((await ask("/")).status).to.equal(503);
  });

  it("does as the service says: the echo backend answers with the status that the query names", async () => {
    await sandbox.apply({
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "SvcExternalAuth",
      metadata: { name: "gate" },
      spec: {
        protocol: "HTTP",
        backendRef: { name: "echo", port: 80 },
        allowedResponseHeaders: ["Echo-Backend"],
      },
    });
    await until("the service to be asked", async () => (await ask("/")).status === 200);
    const fields = (echoed(await ask("/", { "echo-backend": "forged" }))?.headers ?? []).filter(
      ([name]) => name.toLowerCase() === "echo-backend",
    );
    expect(fields).to.have.lengthOf(1);
    expect(fields[0]?.[1]).not.to.equal("forged");
    expect((await ask("/?status=403")).status).to.equal(403);
  });
});
