import { expect } from "chai";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { backend, endpoints, harness, host, routeTo, type Harness } from "./support.ts";

const web = endpoints("ns/web/http", "10.0.0.1");
const api = endpoints("ns/api/http", "10.0.1.1");
const webHost = host("web.example.com", [routeTo("ingress/ns/web:0.0", "/", [backend("ns/web/http")])]);
const apiHost = host("api.example.com", [routeTo("ingress/ns/api:0.0", "/", [backend("ns/api/http")])]);

describe("the metrics of the proxy state", () => {
  const rebuilds = (under: Harness, result: "ok" | "error"): number =>
    under.metrics.routingTableRebuilds.with({ result }).value;

  it("the metrics of the state count rebuilds, host names and routes", () => {
    const under = harness();
    const secure = encodeResource("route|ingress|443|exact|web.example.com" as ResourceKey, {
      listener: "ingress",
      inherit: false,
      routes: [routeTo("ingress/ns/web:0.0", "/", [backend("ns/web/http")])],
    });
    const gateway = host("web.example.com", [routeTo("httproute/ns/r:0", "/", [])], { group: "gateway" });
    under.move(web, api, webHost, secure, apiHost, gateway);
    expect(under.state.counts).to.deep.equal({ hosts: 2, routes: { ingress: 2, gateway: 1 } });
    expect(under.metrics.routingTableHosts.with({}).value).to.equal(2);
    expect(under.metrics.routingTableRoutes.with({ kind: "ingress" }).value).to.equal(2);
    expect(under.metrics.routingTableRoutes.with({ kind: "gateway" }).value).to.equal(1);
    under.move(web, webHost, apiHost);
    expect([rebuilds(under, "ok"), rebuilds(under, "error")]).to.deep.equal([1, 1]);
    under.move(web, webHost);
    expect(under.state.counts).to.deep.equal({ hosts: 1, routes: { ingress: 1, gateway: 0 } });
    expect(rebuilds(under, "ok")).to.equal(2);
  });

  it("a host without routes is not counted", () => {
    const under = harness();
    const empty = host("*", [], { group: "gateway" });
    under.move(web, webHost, empty);
    expect(under.state.counts.hosts).to.equal(1);
    under.move(web, webHost, host("*", [routeTo("httproute/ns/r:0", "/", [])], { group: "gateway" }));
    expect(under.state.counts.hosts).to.equal(2);
    under.move(web, webHost, empty);
    expect(under.state.counts.hosts).to.equal(1);
    under.move(web, webHost);
    expect(under.state.counts.hosts).to.equal(1);
  });

  it("the series of routes that left every table are removed, and no others", async () => {
    const under = harness();
    const secure = host("web.example.com", [routeTo("ingress/ns/web:0.0", "/", [])], { port: 443 });
    under.move(web, api, webHost, secure, apiHost);
    for (const name of ["web.example.com", "api.example.com"]) {
      under.route(name, "/")?.metricsOf("80").count("GET", 200);
    }
    under.move(web, secure);
    const text = (await under.metrics.expose()).body;
    expect(text).to.include('route="ingress/ns/web:0.0"');
    expect(text).not.to.include('route="ingress/ns/api:0.0"');
    under.move();
    expect((await under.metrics.expose()).body).not.to.include('route="ingress/ns/web:0.0"');
  });

  it("a route whose host changes keeps its counters", () => {
    const under = harness();
    under.move(web, webHost);
    const before = under.route("web.example.com", "/")?.metricsOf("80");
    under.move(
      web,
      host("web.example.com", [routeTo("ingress/ns/web:0.0", "/new", [backend("ns/web/http")])]),
    );
    expect(under.route("web.example.com", "/new")?.metricsOf("80")).to.equal(before);
  });
});
