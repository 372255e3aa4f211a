import { expect } from "chai";
import { listenerKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, sha256Hex, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, fullUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import {
  anyRequest,
  backend,
  certificates,
  endpoints,
  harness,
  host,
  listeners,
  routeTo,
  unknown,
  type Harness,
} from "./support.ts";

const web = endpoints("ns/web/http", "10.0.0.1");
const api = endpoints("ns/api/http", "10.0.1.1");
const webHost = host("web.example.com", [routeTo("ingress/ns/web:0.0", "/", [backend("ns/web/http")])]);
const apiHost = host("api.example.com", [routeTo("ingress/ns/api:0.0", "/", [backend("ns/api/http")])]);

/** The address that a request would be sent to. */
function addressOf(under: Harness, name: string, path = "/"): string | undefined {
  const picked = under.route(name, path)?.pickBackend(anyRequest);
  return picked?.kind === "upstream" ? picked.upstream.pick(anyRequest)?.endpoint.address : undefined;
}

/** Everything that a refused update must leave as it was. */
const fingerprint = (under: Harness): readonly unknown[] => [
  under.state.serving,
  under.state.counts,
  [...under.upstreams.sets.keys()],
  under.published.length,
];

function expectRefusal(under: Harness, result: ReturnType<Harness["move"]>, text: string): void {
  expect(result.ok).to.equal(false);
  if (!result.ok) expect(result.error.message).to.include(text);
  expect(under.log.lines.at(-1)?.message).to.equal("snapshot refused");
}

describe("the proxy state", () => {
  it("the proxy state serves nothing before the first snapshot", () => {
    const under = harness();
    expect(under.state.serving.tables.size).to.equal(0);
    expect(under.state.serving.version).to.equal("");
    expect(under.published).to.deep.equal([]);
  });

  it("the proxy state serves a full snapshot", () => {
    const under = harness();
    const http = { port: 80, publicPort: 80, protocol: "http" } as const;
    const tls = certificates(443, ["a"], "a");
    const result = under.replace(web, api, webHost, apiHost, listeners("ingress", http), tls);
    expect(result.ok).to.equal(true);
    expect(addressOf(under, "web.example.com")).to.equal("10.0.0.1:8080");
    expect(addressOf(under, "api.example.com", "/x")).to.equal("10.0.1.1:8080");
    expect(under.route("other.example.com", "/")).to.equal(undefined);
    expect(under.published).to.deep.equal([under.state.serving]);
    expect(under.state.serving.listeners).to.deep.equal([
      { ...http, owner: "ingress", publicPorts: { ingress: 80 } },
    ]);
    expect(under.state.serving.tls.get(443)?.hosts[0]?.host).to.equal("web.example.com");
  });

  it("an update of only the generations of a Gateway is applied, and its listeners stay equal", () => {
    const under = harness();
    const http = { port: 80, publicPort: 80, protocol: "http" } as const;
    const at = (generations: string): Resource =>
      encodeResource<"listener">(listenerKey("shop/edge"), { listeners: [http], generations });
    under.move(web, webHost, at("1"));
    const { listeners: before, tables } = under.state.serving;
    const result = under.move(web, webHost, at("2"));
    expect(result.ok && result.value.changes).to.equal(1);
    expect(under.state.serving.listeners).to.deep.equal(before);
    expect(before).to.deep.equal([{ ...http, owner: "shop/edge", publicPorts: { gateway: 80 } }]);
    expect(under.state.serving.tables).to.equal(tables);
  });

  it("the summary of an update has its version, changes, problems and duration", () => {
    const under = harness();
    under.move(web, webHost);
    const result = under.move(web, webHost, api, apiHost);
    expect(result).to.deep.include({ ok: true });
    if (!result.ok) return;
    expect(result.value).to.include({ version: under.state.serving.version, changes: 2 });
    expect(result.value.problems).to.deep.equal([]);
    expect(result.value.durationMs).to.be.at.least(0);
  });

  it("an update compiles only hosts that change", () => {
    const under = harness();
    under.move(web, api, webHost, apiHost);
    const before = under.route("web.example.com", "/");
    const changed = host("api.example.com", [routeTo("ingress/ns/api:0.0", "/v2", [backend("ns/api/http")])]);
    under.move(web, api, webHost, changed);
    expect(under.route("web.example.com", "/")).to.equal(before);
    expect(under.route("api.example.com", "/")).to.equal(undefined);
    expect(under.route("api.example.com", "/v2")?.id).to.equal("ingress/ns/api:0.0");
  });

  it("a full update without changes compiles nothing", () => {
    const under = harness();
    under.move(web, api, webHost, apiHost);
    const before = under.state.serving.tables.get(80);
    const result = under.replace(web, api, webHost, apiHost);
    expect(result.ok && result.value.changes).to.equal(0);
    expect(under.state.serving.tables.get(80)).to.equal(before);
  });

  it("resources that a full update does not have are removed", () => {
    const under = harness();
    under.move(web, api, webHost, apiHost);
    under.replace(web, webHost);
    expect(under.route("api.example.com", "/")).to.equal(undefined);
    expect(under.upstreams.sets.has("ns/api/http")).to.equal(false);
    const again = under.replace(web, webHost);
    expect(again.ok && again.value.changes).to.equal(0);
  });

  it("new endpoints reach routes that are not compiled again", () => {
    const under = harness();
    under.move(web, webHost);
    const before = under.route("web.example.com", "/");
    const table = under.state.serving.tables.get(80);
    under.move(endpoints("ns/web/http", "10.0.0.7"), webHost);
    expect(under.route("web.example.com", "/")).to.equal(before);
    expect(under.state.serving.tables.get(80)).to.equal(table);
    expect(addressOf(under, "web.example.com")).to.equal("10.0.0.7:8080");
  });

  it("a request under way keeps its route when the route is removed", () => {
    const under = harness();
    under.move(web, webHost);
    const route = under.route("web.example.com", "/");
    const picked = route?.pickBackend(anyRequest);
    expect(addressOf(under, "web.example.com")).to.equal("10.0.0.1:8080");
    under.move();
    expect(under.route("web.example.com", "/")).to.equal(undefined);
    expect(route?.pickBackend(anyRequest)).to.equal(picked);
    expect(picked?.kind === "upstream" && picked.upstream.pick(anyRequest)?.endpoint.address).to.equal(
      "10.0.0.1:8080",
    );
  });

  it("a host that several ports serve alike is compiled once, and its requests are counted by port", () => {
    const under = harness();
    const routes = [routeTo("ingress/ns/web:0.0", "/", [backend("ns/web/http")])];
    under.move(web, host("web.example.com", routes), host("web.example.com", routes, { port: 443 }));
    const route = under.route("web.example.com", "/", 443);
    expect(route?.id).to.equal("ingress/ns/web:0.0");
    expect(under.route("web.example.com", "/", 80)).to.equal(route);
    const [http, https] = [route?.metricsOf("80"), route?.metricsOf("443")];
    expect(http).not.to.equal(https);
    expect(route?.metricsOf("80")).to.equal(http);
    under.move(web, host("web.example.com", routes));
    expect(under.route("web.example.com", "/", 443)).to.equal(undefined);
    expect(under.route("web.example.com", "/", 80)).to.equal(route);
  });

  it("hosts with the same routes have tables of their own", () => {
    const under = harness();
    const routes = [routeTo("ingress/ns/web:0.0", "/", [backend("ns/web/http")])];
    under.move(web, host("a.example.com", routes), host("b.example.com", routes), host("*", routes));
    const hosts = under.state.serving.tables.get(80)?.hosts.ingress;
    for (const name of ["a.example.com", "b.example.com"])
      expect(hosts?.exactOf(name)?.host.host).to.equal(name);
    expect(hosts?.any?.host.host).to.equal("*");
  });

  it("the table of a port without routes is removed", () => {
    const under = harness();
    const onGateway = host("g.example.com", [routeTo("httproute/ns/r:0", "/", [])], {
      group: "gateway",
      port: 8080,
    });
    under.move(web, webHost, onGateway);
    expect([...under.state.serving.tables.keys()]).to.have.members([80, 8080]);
    under.move(web, webHost);
    expect([...under.state.serving.tables.keys()]).to.deep.equal([80]);
  });

  it("a route of one port is not served on another", () => {
    const under = harness();
    const other = host("web.example.com", [routeTo("other", "/", [])], { port: 8080 });
    under.move(web, webHost, other);
    expect(under.route("web.example.com", "/", 8080)?.id).to.equal("other");
    expect(under.route("web.example.com", "/", 80)?.id).to.equal("ingress/ns/web:0.0");
  });

  it("certificates and tables that do not change keep their identity", () => {
    const under = harness();
    const tls = certificates(443, ["a"], "a");
    under.move(web, webHost, tls);
    const before = under.state.serving;
    under.move(web, api, webHost, tls, certificates(8443, ["b"], "b"));
    expect(under.state.serving.tls.get(443)).to.equal(before.tls.get(443));
    expect(under.state.serving.tls.get(8443)?.hosts).to.have.length(1);
    expect(under.state.serving.tables).to.equal(before.tables);
    under.move(web, webHost);
    expect(under.state.serving.tls.size).to.equal(0);
  });

  it("resources of unknown kinds are ignored", () => {
    const under = harness();
    expect(under.move(web, webHost, unknown("quic|9000")).ok).to.equal(true);
    expect(under.move(web, webHost, unknown("quic|9001")).ok).to.equal(true);
    expect(addressOf(under, "web.example.com")).to.equal("10.0.0.1:8080");
  });

  it("the share of a broken backend is answered with its status, and a rule without backends with 500", () => {
    const under = harness();
    const broken = { weight: 1, service: "", protocol: "http1" } as const;
    under.move(
      web,
      host("web.example.com", [
        routeTo("status", "/status", [{ ...broken, status: 503 }]),
        routeTo("invalid", "/invalid", [broken]),
        routeTo("none", "/none", []),
        routeTo("zero", "/zero", [backend("ns/web/http", { weight: 0 })]),
        routeTo("half", "/half", [backend("ns/web/http"), { ...broken, status: 503 }]),
      ]),
    );
    expect(under.route("web.example.com", "/status")?.pickBackend(anyRequest)).to.deep.equal({
      kind: "status",
      status: 503,
    });
    for (const path of ["/invalid", "/none", "/zero"]) {
      expect(under.route("web.example.com", path)?.pickBackend(anyRequest)).to.deep.equal({
        kind: "status",
        status: 500,
      });
    }
    const half = under.route("web.example.com", "/half");
    const kinds = Array.from({ length: 100 }, () => half?.pickBackend(anyRequest).kind);
    expect(kinds.filter((kind) => kind === "status").length).to.be.within(49, 51);
  });

  it("features of a route and of its backends are compiled into filters", () => {
    const under = harness();
    const limited = backend("ns/web/http", { features: { "max-body-size": { maxBytes: 5 } } });
    under.move(
      web,
      host("web.example.com", [
        routeTo("plain", "/", [backend("ns/web/http")], { accessLog: false }),
        routeTo("limited", "/limited", [limited], { features: { "max-body-size": { maxBytes: 9 } } }),
      ]),
    );
    const route = under.route("web.example.com", "/limited");
    const picked = route?.pickBackend(anyRequest);
    expect(route?.filters.map(({ slug }) => slug)).to.deep.equal(["max-body-size"]);
    expect(picked?.kind === "upstream" && picked.filters.map(({ slug }) => slug)).to.deep.equal([
      "max-body-size",
    ]);
    expect(route).to.include({ pattern: "/limited", accessLog: true });
    expect(under.route("web.example.com", "/")).to.include({ accessLog: false });
    expect(under.route("web.example.com", "/")?.filters).to.deep.equal([]);
  });

  it("a route with an invalid regex is left out and logged", () => {
    const under = harness();
    const bad = routeTo("bad", "/", [], { match: { path: { type: "regex", value: "(" } } });
    const result = under.move(web, host("web.example.com", [bad, routeTo("good", "/", [])]));
    expect(result.ok && result.value.problems.map(({ routeId }) => routeId)).to.deep.equal(["bad"]);
    expect(under.route("web.example.com", "/")?.id).to.equal("good");
    const warnings = under.log.lines.filter(({ level }) => level === "warn");
    expect(warnings.map(({ fields }) => fields["route_id"])).to.deep.equal(["bad"]);
  });

  describe("a rejected update", () => {
    let under: Harness;
    let before: readonly unknown[];
    beforeEach(() => {
      under = harness();
      under.move(web, webHost);
      before = fingerprint(under);
    });
    afterEach(() => {
      expect(fingerprint(under)).to.deep.equal(before);
      expect(addressOf(under, "web.example.com")).to.equal("10.0.0.1:8080");
      // The next good update is not disturbed by the refused one.
      expect(under.move(web, api, webHost, apiHost).ok).to.equal(true);
      expect(addressOf(under, "api.example.com")).to.equal("10.0.1.1:8080");
    });

    const fullOf = (...resources: readonly Resource[]): ReturnType<Harness["move"]> =>
      under.state.apply(fullUpdate(createSnapshot(resources)));

    it("an update is refused when a body does not have its hash", () => {
      expectRefusal(under, fullOf(web, webHost, { ...api, body: `${api.body} ` }), "hash");
    });

    it("an update is refused when one of two resources with the same hash has another body", () => {
      const twin = { ...endpoints("ns/twin/http"), hash: api.hash };
      expectRefusal(under, fullOf(web, webHost, api, twin), "endpoints|ns/twin/http: hash");
    });

    it("an update is refused when a body is not JSON", () => {
      expectRefusal(under, fullOf(web, webHost, { ...api, body: "{", hash: sha256Hex("{") }), "not JSON");
    });

    it("an update is refused when a value is out of range", () => {
      const body = api.body.replace("8080", "80800");
      expectRefusal(under, fullOf(web, webHost, { ...api, body, hash: sha256Hex(body) }), "addresses.0.port");
    });

    it("an update is refused when a route names an endpoint set that does not exist", () => {
      expectRefusal(under, under.move(web, webHost, apiHost), "references endpoints|ns/api/http");
    });

    it("an update is refused when it removes an endpoint set that a route names", () => {
      expectRefusal(under, under.move(webHost), "endpoints|ns/web/http: removed while routes reference it");
    });

    it("an update is refused when a server name refers to a certificate that does not exist", () => {
      expectRefusal(under, under.move(web, webHost, certificates(443, ["b"], "a")), "tls|443");
    });

    it("an update is refused when compiling it throws", () => {
      under.random = () => {
        throw new Error("boom");
      };
      const both = [backend("ns/web/http"), backend("ns/api/http")];
      const result = under.move(web, api, webHost, host("both.example.com", [routeTo("both", "/", both)]));
      expectRefusal(under, result, "internal error: boom");
    });
  });

  describe("references", () => {
    it("an endpoint set can move from one host to another", () => {
      const under = harness();
      under.move(web, webHost);
      const moved = host("new.example.com", [routeTo("ingress/ns/web:0.0", "/", [backend("ns/web/http")])]);
      expect(under.move(web, moved).ok).to.equal(true);
      expect(under.move(moved).ok).to.equal(false);
      expect(under.move().ok).to.equal(true);
      expect(under.upstreams.sets.size).to.equal(0);
    });

    it("an endpoint set can be removed together with the last route that names it, not before", () => {
      const under = harness();
      const second = host("b.example.com", [
        routeTo("b", "/", [backend("ns/web/http"), backend("ns/web/http")]),
      ]);
      under.move(web, webHost, second);
      expect(under.move(second).ok).to.equal(false);
      expect(under.move(web, second).ok).to.equal(true);
      const without = host("b.example.com", [routeTo("b", "/", [])]);
      expect(under.move(without).ok).to.equal(true);
    });
  });
});
