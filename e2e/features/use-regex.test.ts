import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("use-regex", () => {
  const sandbox = useSandbox("use-regex");
  covers("use-regex");
  const host = "use-regex.e2e.example";
  const pathSeenFor = async (path: string): Promise<string | undefined> =>
    echoed(await send({ host, path }))?.path;

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    const pathType = "ImplementationSpecific";
    await sandbox.apply(
      ingress({
        name: "use-regex",
        host,
        annotations: { "use-regex": "true", "rewrite-target": "/$2/of/$1" },
        paths: [
          { path: "/users/([0-9]+)/(.*)$", pathType, service: "echo" },
          { path: "/broken/(", pathType, service: "echo" },
          { path: "/users/1/literal", pathType: "Exact", service: "echo" },
        ],
      }),
    );
    await until("the Ingress to be served", () => pathSeenFor("/users/1/a"));
  });

  it("use-regex: a regular expression matches any part of the path, and its groups are expanded", async () => {
    expect(await pathSeenFor("/users/7/photos?x=1")).to.equal("/photos/of/7?x=1");
    expect(await pathSeenFor("/v1/users/7/a/b")).to.equal("/a/b/of/7");
  });

  it("use-regex: an Exact path is literal and takes precedence", async () => {
    expect(await pathSeenFor("/users/1/literal")).to.equal("/$2/of/$1");
  });

  it("use-regex: a path that no valid regular expression matches gets 404", async () => {
    expect((await send({ host, path: "/users/x/photos" })).status).to.equal(404);
    expect((await send({ host, path: "/broken/(" })).status).to.equal(404);
  });
});
