import { expect } from "chai";
import { echoed, send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("routing by host and path", () => {
  const sandbox = useSandbox("routing");
  const host = "routing.e2e.example";

  /** The Service whose pod answered, by the name of its pods. */
  const backendOf = async (path: string, name = host): Promise<string | undefined> => {
    const echo = echoed(await send({ host: name, path }));
    return echo?.backend.split("-")[0];
  };

  before(async () => {
    await Promise.all([
      deployEcho(sandbox, { name: "web" }),
      deployEcho(sandbox, { name: "api", replicas: 1 }),
    ]);
    await sandbox.apply(
      ingress({
        name: "routing",
        host,
        paths: [
          { path: "/", service: "web" },
          { path: "/api", service: "api" },
          { path: "/api/exact", pathType: "Exact", service: "web" },
        ],
      }),
    );
    await until("the Ingress to be served", () => backendOf("/"));
  });

  it("each path is routed to its Service", async () => {
    expect(await backendOf("/")).to.equal("web");
    expect(await backendOf("/api/one")).to.equal("api");
    expect(await backendOf("/apian")).to.equal("web");
    expect(await backendOf("/api/exact")).to.equal("web");
    expect(await backendOf("/api/exact/")).to.equal("api");
  });

  it("a request for an unknown host gets 404", async () => {
    const reply = await send({ host: "unknown.e2e.example" });
    expect([reply.status, reply.body]).to.deep.equal([404, "404 Not Found\n"]);
  });

  it("the requests to a Service are spread over its pods", async () => {
    await until("both pods", async () => {
      const replies = await Promise.all(Array.from({ length: 10 }, () => send({ host })));
      return new Set(replies.map((reply) => echoed(reply)?.backend)).size === 2;
    });
  });

  it("X-Forwarded headers have the client, the host and the scheme of the request", async () => {
    const echo = echoed(await send({ host, path: "/a?b=c", headers: { "x-forwarded-for": "192.0.2.1" } }));
    const fields = new Map(echo?.headers.map(([name, value]) => [name.toLowerCase(), value]));
    expect([echo?.host, echo?.path]).to.deep.equal([host, "/a?b=c"]);
    expect(fields.get("x-forwarded-host")).to.equal(host);
    expect(fields.get("x-forwarded-proto")).to.equal("http");
    expect(fields.get("x-forwarded-for")).to.be.a("string").and.not.include("192.0.2.1");
  });

  it("a changed Ingress applies, and a deleted one is no longer served", async () => {
    const name = "moving.e2e.example";
    await sandbox.apply(ingress({ name: "moving", host: name, paths: [{ service: "web" }] }));
    await until("the first backend", async () => (await backendOf("/", name)) === "web");
    await sandbox.apply(ingress({ name: "moving", host: name, paths: [{ service: "api" }] }));
    await until("the second backend", async () => (await backendOf("/", name)) === "api");
    await sandbox.delete("ingress", "moving");
    await until("the route to be removed", async () => (await send({ host: name })).status === 404);
  });

  it("an Ingress of another class is not served", async () => {
    const other = ingress({
      name: "other",
      host: "other.e2e.example",
      className: "other",
      paths: [{ service: "web" }],
    });
    const marker = ingress({ name: "marker", host: "marker.e2e.example", paths: [{ service: "web" }] });
    await sandbox.apply(other);
    await sandbox.apply(marker);
    await until("the later Ingress to be served", () => backendOf("/", "marker.e2e.example"));
    expect((await send({ host: "other.e2e.example" })).status).to.equal(404);
  });
});
