import { expect } from "chai";
import { send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("satisfy", () => {
  const sandbox = useSandbox("satisfy");
  covers("satisfy");
  const host = "satisfy.e2e.example";
  const basic = (text: string): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(text).toString("base64")}`,
  });

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "users", labels: { "ingress.svc-labs.dev/auth-basic": "true" } },
      type: "Opaque",
      stringData: { auth: "ann:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=" },
    });
    await sandbox.apply({
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "IpAccessControl",
      metadata: { name: "elsewhere" },
      spec: { allow: ["203.0.113.0/24"] },
    });
    const annotations = {
      satisfy: "any",
      "ip-access-control": `${sandbox.namespace}/elsewhere`,
      "auth-basic-secret": `${sandbox.namespace}/users`,
    };
    await sandbox.apply(ingress({ name: "any", host, annotations, paths: [{ service: "echo" }] }));
    await until("the Ingress to be served", async () => (await send({ host })).status === 401);
  });

  it("satisfy: a password is enough for a client of another address, and without one the answer is 401", async () => {
    expect((await send({ host, headers: basic("ann:password") })).status).to.equal(200);
    expect((await send({ host, headers: basic("ann:wrong") })).status).to.equal(401);
  });
});
