import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("canary", () => {
  const sandbox = useSandbox("canary");
  covers(
    ...["canary", "canary-weight", "canary-weight-total", "canary-by-cookie"],
    ...["canary-by-header", "canary-by-header-value", "canary-by-header-pattern"],
  );
  const always = "always.canary.e2e.example";
  const region = "region.canary.e2e.example";
  const isNext = async (host: string, headers: Readonly<Record<string, string>> = {}): Promise<boolean> =>
    echoed(await send({ host, headers }))?.backend.startsWith("next") === true;

  const apply = async (host: string, rules: Readonly<Record<string, string>>): Promise<void> => {
    const name = host.split(".")[0] ?? "";
    const annotations = { canary: "true", ...rules };
    await sandbox.apply(
      ingress({ name, host, paths: [{ service: "stable" }] }),
      ingress({ name: `${name}-canary`, host, annotations, paths: [{ service: "next" }] }),
    );
  };

  before(async () => {
    await deployEcho(sandbox, { name: "stable", replicas: 1 });
    await deployEcho(sandbox, { name: "next", replicas: 1 });
    await apply(always, {
      "canary-weight": "1000",
      "canary-weight-total": "1000",
      "canary-by-header": "X-Canary",
      "canary-by-cookie": "canary",
    });
    await apply(region, { "canary-by-header": "X-Region", "canary-by-header-pattern": "^eu-" });
    await until("the canary to be served", () => isNext(always));
    await until("the pattern to be served", () => isNext(region, { "x-region": "eu-1" }));
  });

  it("canary: a weight that is the total takes every request, but for a header or a cookie against it", async () => {
    expect(await isNext(always)).to.equal(true);
    expect(await isNext(always, { "x-canary": "never" })).to.equal(false);
    expect(await isNext(always, { cookie: "canary=never" })).to.equal(false);
    expect(await isNext(always, { "x-canary": "always", cookie: "canary=never" })).to.equal(true);
  });

  it("canary: a pattern or a value of a header decides for it, and without them it gets no requests", async () => {
    expect(await isNext(region)).to.equal(false);
    expect(await isNext(region, { "x-region": "us-1" })).to.equal(false);
    await apply(region, { "canary-by-header": "X-Region", "canary-by-header-value": "us-1" });
    await until("the value to be served", () => isNext(region, { "x-region": "us-1" }));
    expect(await isNext(region, { "x-region": "eu-1" })).to.equal(false);
  });
});
