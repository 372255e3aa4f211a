import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { scale, waitForRollout } from "../support/pods.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("endpoints", () => {
  const sandbox = useSandbox("endpoints");
  const host = "endpoints.e2e.example";
  const deployment = { namespace: sandbox.namespace, name: "echo" };
  const statusOf = async (path = "/"): Promise<number> => (await send({ host, path })).status;

  before(async () => {
    await deployEcho(sandbox);
    await sandbox.apply(
      ingress({ name: "endpoints", host, paths: [{ service: "echo" }, { path: "/none", service: "none" }] }),
    );
    await until("the Ingress to be served", async () => (await statusOf()) === 200);
  });

  it("a Service gets 503 while it has no pod, and is served again when it has one", async () => {
    await scale(deployment, 0);
    await until("503", async () => (await statusOf()) === 503);
    await scale(deployment, 1);
    await waitForRollout(deployment);
    await until("200", async () => (await statusOf()) === 200);
  });

  it("pods that are added to a Service receive requests", async () => {
    await scale(deployment, 3);
    await waitForRollout(deployment);
    const backends = new Set<string>();
    await until("three backends", async () => {
      const echo = echoed(await send({ host }));
      if (echo !== undefined) backends.add(echo.backend);
      return backends.size >= 3;
    });
  });

  it("a missing Service gets 503 beside paths that are served", async () => {
    expect(await statusOf("/none")).to.equal(503);
    expect(await statusOf("/")).to.equal(200);
  });
});
