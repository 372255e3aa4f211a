import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("path-normalize", () => {
  const sandbox = useSandbox("path-normalize");
  covers("path-normalize");
  const host = "path-normalize.e2e.example";
  const pathSeenFor = async (path: string): Promise<string | undefined> =>
    echoed(await send({ host, path }))?.path;
  const ask = (level: string): Promise<void> =>
    sandbox.apply(
      ingress({
        name: "path-normalize",
        host,
        annotations: { "path-normalize": level },
        paths: [{ path: "/a/b", service: "echo" }],
      }),
    );

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await ask("base");
    await until("the Ingress to be served", () => pathSeenFor("/a/b"));
  });

  it("path-normalize: dot segments are removed and unreserved characters decoded at level base", async () => {
    expect(await pathSeenFor("/x/../%61/b/./c%2Fd?q=//")).to.equal("/a/b/c%2Fd?q=//");
    expect((await send({ host, path: "/a//b" })).status).to.equal(404);
  });

  it("path-normalize: level merge-slashes merges slashes", async () => {
    await ask("merge-slashes");
    await until("the new level", async () => (await pathSeenFor("//a//b")) === "/a/b");
    expect(await pathSeenFor("/a/b//c%2F/d")).to.equal("/a/b/c%2F/d");
  });

  it("path-normalize: level decode-and-merge-slashes decodes and merges slashes", async () => {
    await ask("decode-and-merge-slashes");
    await until("the new level", async () => (await pathSeenFor("/a%2Fb")) === "/a/b");
    expect(await pathSeenFor("/a/x%5c..%2Fb")).to.equal("/a/b");
  });

  it("path-normalize: the value none means base", async () => {
    await ask("none");
    await until("the new level", async () => (await send({ host, path: "//a/b" })).status === 404);
    expect(await pathSeenFor("/a/./b")).to.equal("/a/b");
  });
});
