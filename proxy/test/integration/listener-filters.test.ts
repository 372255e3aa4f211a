import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener } from "node:http";
import { expect } from "chai";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { HostRoutes, ListenerFilter, Route } from "@svc-gateway/common/ir/route.ts";
import { pattern } from "../routing/support.ts";
import { gateAt, GuardedGateway, httpCheck, readText, type Reply } from "./ext-auth-support.ts";
import { startGateway } from "./gateway.ts";

type Match = Route["match"];
type Tables = {
  readonly [host: string]: Pick<HostRoutes, "filters"> & {
    readonly listener?: string;
    readonly routes: readonly Route[];
  };
};

const anyPath: Match["path"] = { type: "prefix", value: "/" };

/** A route that leads to the upstream. */
const route = (name: string, match: Partial<Match> = {}, features: Route["features"] = {}): Route => ({
  id: `httproute/ns/${name}:0`,
  source: { kind: "HTTPRoute", namespace: "ns", name },
  match: { path: anyPath, ...match },
  features: { ...features, "response-headers": { set: [{ name: "X-Route", value: name }] } },
  backends: [{ weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" }],
});

const tenantIs = (value: string): Partial<Match> => ({
  headers: [{ name: "x-tenant", type: "exact", value }],
});

const asking = (endpoints: string, more: Partial<ExternalCheck> = {}): ListenerFilter => ({
  features: {
    "ext-auth": [{ check: { ...httpCheck, endpoints, allowedResponseHeaders: ["x-tenant"], ...more } }],
  },
});
const rewriting = (expression: string, value: string): ListenerFilter => ({
  features: { "rewrite-target": { path: { type: "replace", pattern: expression, value } } },
});
const limited = { "rate-limit": { requestsPerSecond: 0.001, burst: 0 } } as const;

describe("listener-filters", () => {
  let guarded: GuardedGateway;
  let asked: IncomingMessage[];
  let seen: IncomingMessage[];
  let ports: readonly number[];

  beforeEach(async () => {
    guarded = new GuardedGateway();
    asked = [];
    seen = [];
    ports = [
      await guarded.listen(
        createServer((message, response) => {
          seen.push(message);
          response.end();
        }),
      ),
    ];
  });
  afterEach(() => guarded.close());

  /** A service that is asked, as the resource with its endpoints. */
  async function gate(name: string, answer: RequestListener): Promise<Resource> {
    const server = createServer((message, response) => {
      asked.push(message);
      answer(message, response);
    });
    return gateAt(name, await guarded.listen(server));
  }

  const resourcesOf = (tables: Tables, gates: readonly Resource[]): readonly Resource[] => [
    ...Object.entries(tables).map(([host, { listener = "Gateway/ns/edge/http", ...table }]) =>
      encodeResource<"route">(routeKey("gateway", 80, pattern(host)), { listener, inherit: true, ...table }),
    ),
    ...gates,
  ];

  async function serve(tables: Tables, gates: readonly Resource[] = []): Promise<void> {
    const gateway = await startGateway({ ports, hosts: [], resources: resourcesOf(tables, gates) });
    guarded.gateway = gateway;
    guarded.onClose(() => gateway.close());
  }

  async function send(
    path: string,
    headers: Record<string, string | string[]> = {},
  ): Promise<Pick<Reply, "text"> & { readonly status: number | undefined; readonly route: unknown }> {
    const sent = request({
      host: "127.0.0.1",
      port: guarded.gateway.port,
      agent: false,
      path,
      headers: { host: "a.example", ...headers },
    });
    sent.end();
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    const { statusCode, headers: answered } = message;
    return { status: statusCode, route: answered["x-route"], text: await readText(message) };
  }

  it("listener-filters: a header of the authorization service chooses the route, a client's own header does not", async () => {
    const says = await gate("ns/gate/1", (message, response) => {
      const tenant = message.headers.authorization;
      if (tenant !== undefined) response.setHeader("X-Tenant", tenant);
      response.end();
    });
    const routes = [route("blue", tenantIs("blue")), route("none")];
    await serve({ "a.example": { filters: [asking("ns/gate/1")], routes } }, [says]);
    const authorization = "blue";
    expect(await send("/", { authorization })).to.include({ status: 200, route: "blue" });
    expect(seen[0]?.headers["x-tenant"]).to.equal("blue");
    for (const forged of [
      { "x-tenant": "blue" },
      { "x-tenant": "blue", connection: "x-tenant" },
      { x_tenant: "blue" },
    ]) {
      expect(await send("/", forged), JSON.stringify(forged)).to.include({ status: 200, route: "none" });
      expect(seen.at(-1)?.headers).not.to.have.any.keys("x-tenant", "x_tenant");
    }
    expect(await send("/", { authorization, "x-tenant": "red" })).to.include({ route: "blue" });
  });

  it("listener-filters: headers that the authorization service sets are removed from a client's trailers", async () => {
    const says = await gate("ns/gate/1", (_, response) => void response.end());
    const reader = createServer((message, response) => {
      message.resume().on("end", () => response.end(JSON.stringify(message.trailers)));
    });
    ports = [await guarded.listen(reader)];
    await serve({ "a.example": { filters: [asking("ns/gate/1")], routes: [route("any")] } }, [says]);
    const sent = request({
      host: "127.0.0.1",
      port: guarded.gateway.port,
      agent: false,
      method: "POST",
      headers: { host: "a.example", trailer: "x" },
    });
    sent.addTrailers({ "X-Tenant": "blue", x_tenant: "blue", "X-Sum": "1" });
    sent.end("body");
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    expect(await readText(message)).to.equal('{"x-sum":"1"}');
  });

  for (const [order, last] of [
    [["ns/first/1", "ns/second/1"], "second"],
    [["ns/second/1", "ns/first/1"], "first"],
  ] as const) {
    it(`listener-filters: filters run in the order of their list, and the last one (${last}) decides a header that both set`, async () => {
      const gates = await Promise.all(
        ["first", "second"].map((name) =>
          gate(`ns/${name}/1`, (_, response) => void response.setHeader("x-tenant", name).end()),
        ),
      );
      const filters = order.map((name) => asking(name, { pathPrefix: `/${name}` }));
      await serve(
        { "a.example": { filters, routes: [route("last", tenantIs(last)), route("other")] } },
        gates,
      );
      expect(await send("/")).to.include({ status: 200, route: "last" });
      expect(asked.map(({ url }) => url)).to.deep.equal(order.map((name) => `/${name}/`));
    });
  }

  it("listener-filters: a denied request reaches no later filter and no route, also when it has none", async () => {
    const denies = await gate("ns/no/1", (_, response) => void response.writeHead(403).end("no"));
    const allows = await gate("ns/yes/1", (_, response) => void response.end());
    const filters = [asking("ns/no/1"), asking("ns/yes/1")];
    const routes = [route("a", { path: { type: "exact", value: "/a" } }, limited)];
    await serve({ "a.example": { filters, routes } }, [denies, allows]);
    for (const path of ["/a", "/a", "/nowhere"]) {
      expect(await send(path)).to.deep.equal({ status: 403, route: undefined, text: "no" });
    }
    expect([asked.length, seen.length]).to.deep.equal([3, 0]);
    expect(guarded.gateway.records.map(({ routeId }) => routeId)).to.deep.equal(["", "", ""]);
  });

  it("listener-filters: a filter that cannot be resolved answers 500 in its place", async () => {
    const allows = await gate("ns/yes/1", (_, response) => void response.end());
    await serve({ "a.example": { filters: [asking("ns/yes/1"), {}], routes: [route("a")] } }, [allows]);
    expect(await send("/")).to.include({ status: 500, route: undefined });
    expect([asked.length, seen.length]).to.deep.equal([1, 0]);
    expect(guarded.gateway.records[0]?.error).to.equal("listener filter not resolved");
  });

  it("listener-filters: filters of the listener and of the route both run, even if they are equal", async () => {
    const allows = await gate("ns/yes/1", (_, response) => void response.end());
    const check = asking("ns/yes/1");
    await serve({ "a.example": { filters: [check], routes: [route("a", {}, check.features)] } }, [allows]);
    expect((await send("/")).status).to.equal(200);
    expect(asked.length).to.equal(2);
  });

  it("listener-filters: the filters of the listener that owns the request's host run, on all of its hosts", async () => {
    const denies = await gate("ns/no/1", (_, response) => void response.writeHead(403).end());
    const filters = [asking("ns/no/1")];
    await serve(
      {
        "*.example": { filters, routes: [route("wide")] },
        "a.example": { filters, routes: [] },
        "open.example": { listener: "Gateway/ns/edge/open", routes: [route("open")] },
        "*": { listener: "Gateway/ns/edge/all", routes: [route("all")] },
      },
      [denies],
    );
    const statusOf = async (host: string): Promise<unknown> => (await send("/", { host })).status;
    expect(await statusOf("a.example")).to.equal(403);
    expect(await statusOf("b.example")).to.equal(403);
    expect(await statusOf("open.example")).to.equal(200);
    expect(await statusOf("elsewhere.test")).to.equal(200);
  });

  it("listener-filters: a rate limit counts over all hosts of the listener, apart from those of routes", async () => {
    const filters = [{ features: limited }];
    const table = { filters, routes: [route("a", {}, limited)] };
    await serve({
      "a.example": table,
      "b.example": table,
      "c.example": { ...table, listener: "Gateway/ns/edge/c" },
    });
    const statusOf = async (host: string): Promise<unknown> => (await send("/", { host })).status;
    expect(await statusOf("a.example")).to.equal(200);
    expect(await statusOf("b.example")).to.equal(429);
    expect(await statusOf("c.example")).to.equal(429, "by the limit of the route");
    expect(seen.length).to.equal(1);
  });

  it("listener-filters: the path that rewrites leave chooses the route, each continuing from the one before", async () => {
    const filters = [rewriting("^/v[0-9]+", ""), rewriting("^/shop", "/store")];
    const routes = [
      route("old", { path: { type: "prefix", value: "/v1" } }),
      route("store", { path: { type: "prefix", value: "/store" } }),
    ];
    await serve({ "a.example": { filters, routes } });
    expect(await send("/v1/shop/a?b=c")).to.include({ status: 200, route: "store" });
    expect(seen[0]?.url).to.equal("/store/a?b=c");
    expect(guarded.gateway.records[0]).to.include({ path: "/store/a", routeId: "httproute/ns/store:0" });
    expect((await send("/v1/elsewhere")).status).to.equal(404);
  });

  it("listener-filters: routes still match Host and forwarding headers as the client sent them", async () => {
    const filters = [rewriting("^/x", "/y")];
    const match = (name: string, value: string): Partial<Match> => ({
      headers: [{ name, type: "exact", value }],
    });
    const routes = [
      route("host", match("host", "a.example:8080")),
      route("forwarded", match("x-forwarded-for", "192.0.2.9")),
      route("own", match("x-forwarded-for", "127.0.0.1")),
      route("kept", match("accept", "text/plain")),
    ];
    await serve({ "a.example": { filters, routes } });
    expect(await send("/", { host: "a.example:8080" })).to.include({ route: "host" });
    expect(await send("/", { "x-forwarded-for": "192.0.2.9" })).to.include({ route: "forwarded" });
    expect(await send("/", { accept: "text/plain" })).to.include({ route: "kept" });
  });

  it("listener-filters: filters are added and removed with the snapshot", async () => {
    const denies = await gate("ns/no/1", (_, response) => void response.writeHead(403).end());
    const guardedTable = { "a.example": { filters: [asking("ns/no/1")], routes: [route("a")] } };
    const openTable = { "a.example": { routes: [route("a")] } };
    await serve(guardedTable, [denies]);
    const { gateway } = guarded;
    expect((await send("/")).status).to.equal(403);
    gateway.update({ ...gateway.plan, resources: resourcesOf(openTable, [denies]) });
    expect((await send("/")).status).to.equal(200);
    gateway.update({ ...gateway.plan, resources: resourcesOf(guardedTable, [denies]) });
    expect((await send("/")).status).to.equal(403);
  });
});
