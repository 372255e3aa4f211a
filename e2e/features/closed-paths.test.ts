import { expect } from "chai";
import { send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("closed-paths", () => {
  const sandbox = useSandbox("closed-paths");
  covers("closed-paths");
  const host = "closed-paths.e2e.example";

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "closed",
        host,
        annotations: { "closed-paths": "/-/reload\n= /metrics\n~ ^/(?:build|tests)/" },
        paths: [{ service: "echo" }],
      }),
    );
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("closed-paths: requests to closed paths are answered 403, others reach the backend", async () => {
    for (const path of ["/-/reload", "/-/reloaded", "/metrics", "/tests/a", "/%74ests/a", "//-/reload"]) {
      expect((await send({ host, path })).status, path).to.equal(403);
    }
    for (const path of ["/-/ready", "/metrics/a", "/testing"]) {
      expect((await send({ host, path })).status, path).to.equal(200);
    }
  });
});
