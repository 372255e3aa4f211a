import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { covers, coversFilters } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, httpRoute, needGatewayApi, to } from "../support/gateway-api.ts";
import { programmedAddress } from "../support/gateways.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("rewrite-target", () => {
  const sandbox = useSandbox("rewrite-target");
  covers("rewrite-target");
  const host = "rewrite-target.e2e.example";
  const pathSeenFor = async (path: string, name = host): Promise<string | undefined> =>
    echoed(await send({ host: name, path }))?.path;

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "rewritten",
        host,
        annotations: { "rewrite-target": "/new/place" },
        paths: [{ path: "/old", service: "echo" }],
      }),
      ingress({
        name: "invalid",
        host: `invalid.${host}`,
        annotations: { "rewrite-target": "/new place" },
        paths: [{ service: "echo" }],
      }),
    );
    await until("the Ingress to be served", () => pathSeenFor("/old"));
    await until("the other Ingress to be served", () => pathSeenFor("/", `invalid.${host}`));
  });

  it("rewrite-target is the path that the backend sees, and the query stays", async () => {
    expect(await pathSeenFor("/old")).to.equal("/new/place");
    expect(await pathSeenFor("/old/deep/down?a=b")).to.equal("/new/place?a=b");
  });

  it("a rewrite-target that is no path leaves requests as they are", async () => {
    expect(await pathSeenFor("/old?a=b", `invalid.${host}`)).to.equal("/old?a=b");
  });
});

describe("rewrite-target on an HTTPRoute", () => {
  const sandbox = useSandbox("rewrite-target-route");
  coversFilters("URLRewrite");
  const host = "rewrite-target-route.e2e.example";

  before(async function () {
    await needGatewayApi(this);
    await deployEcho(sandbox, { replicas: 1 });
    const rewrite = (prefix: string, urlRewrite: object): object => ({
      matches: [{ path: { value: prefix } }],
      filters: [{ type: "URLRewrite", urlRewrite }],
      backendRefs: to("echo"),
    });
    await sandbox.apply(
      gateway("edge"),
      httpRoute("echo", "edge", {
        hostnames: [host],
        rules: [
          rewrite("/full", { path: { type: "ReplaceFullPath", replaceFullPath: "/new" } }),
          rewrite("/prefix", { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/new" } }),
          rewrite("/host", { hostname: "internal.example.com" }),
        ],
      }),
    );
  });

  it("URLRewrite replaces the path, the matched prefix, or the host name", async () => {
    const address = await programmedAddress(sandbox.namespace, "edge");
    const seenFor = async (path: string) => echoed(await send({ host, gateway: address, path }));
    await until("the route", () => seenFor("/full"));
    expect((await seenFor("/full/a?b=c"))?.path).to.equal("/new?b=c");
    expect((await seenFor("/prefix/a?b=c"))?.path).to.equal("/new/a?b=c");
    expect((await seenFor("/prefix"))?.path).to.equal("/new");
    const { path, host: name } = (await seenFor("/host/a")) ?? {};
    expect([path, name]).to.deep.equal(["/host/a", "internal.example.com"]);
  });
});
