import { expect } from "chai";
import { buildRoutesDocument, type RoutesQuery } from "../../src/translate/routes-document.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { buildOf, gatewayYaml, vipYaml } from "../reconcilers/gateway/support.ts";
import { readCase } from "./golden.ts";

const translationOf = (name: string): Translation => {
  const { world, settings } = readCase(name);
  return translate(world, settings);
};

describe("routes document", () => {
  it("the routes document lists hosts, routes and endpoints of each port", () => {
    const { pod_name, routes, ...counts } = buildRoutesDocument(
      translationOf("ingress-with-hosts"),
      "proxy-0",
    );
    expect(pod_name).to.equal("proxy-0");
    expect(counts).to.deep.equal({});
    expect(routes.gateway).to.deep.equal({ hosts: [], conflicts: [] });
    const shown = routes.ingress.hosts.map(({ port, host }) => `${port} ${host}`);
    expect(shown).to.deep.equal([
      "80 *",
      "80 *.example.com",
      "80 www.example.com",
      "443 *",
      "443 *.example.com",
      "443 www.example.com",
    ]);
    expect(routes.ingress.hosts[2]?.routes).to.deep.equal([
      {
        type: "prefix",
        path: "/",
        backend_group: "shop/echo",
        namespace: "shop",
        name: "shop",
        route_id: "ingress/shop/shop:0.0",
        endpoints: ["10.0.0.1:8080"],
      },
    ]);
  });

  it("the routes document brackets IPv6 addresses and lists no endpoint for a backend without endpoints", () => {
    const dual = buildRoutesDocument(translationOf("ingress-with-endpoints-dual-stack"), "p").routes.ingress;
    const v6 = dual.hosts.find(({ host }) => host === "v6.example.com");
    expect(v6?.routes[0]?.endpoints).to.deep.equal(["[fd00::1]:8080"]);
    const missing = buildRoutesDocument(translationOf("ingress-with-service-invalid-missing"), "p").routes
      .ingress;
    expect(missing.hosts[0]?.routes.map(({ endpoints }) => endpoints.length)).to.deep.equal([0, 0, 1]);
  });

  it("the routes document lists a conflict on each port", () => {
    const { conflicts } = buildRoutesDocument(translationOf("ingress-with-conflict"), "p").routes.ingress;
    const rejected = {
      host: "a.example.com",
      type: "prefix",
      path: "/app",
      rejected_group: "blog/echo",
      namespace: "blog",
      name: "newer",
    };
    expect(conflicts).to.deep.equal([
      { port: 80, ...rejected },
      { port: 443, ...rejected },
    ]);
  });

  it("the routes document lists routes of Gateways that an earlier route shadows as conflicts", () => {
    const route = (name: string, service: string, header = ""): string => `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, namespace: shop, creationTimestamp: "2026-01-0${name === "first" ? 1 : 2}T00:00:00Z" }
spec:
  parentRefs: [{ name: edge }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /cart }${header} }]
      backendRefs: [{ name: ${service}, port: 80 }]
`;
    const { translation } = buildOf(
      gatewayYaml +
        route("first", "a") +
        route("later", "b") +
        route("other", "c", ", headers: [{ name: x, value: y }]") +
        `---${vipYaml(30_000, "[]")}`,
    );
    const { hosts, conflicts } = buildRoutesDocument(translation, "p").routes.gateway;
    expect(conflicts).to.deep.equal([
      {
        port: 30_000,
        host: "*",
        type: "prefix",
        path: "/cart",
        rejected_group: "shop/b",
        namespace: "shop",
        name: "later",
      },
    ]);
    expect(hosts[0]?.routes.map(({ name }) => name)).to.deep.equal(["other", "first", "later"]);
  });

  it("the routes document lists a host without routes, unless a query selects routes", () => {
    const translation = translationOf("ingress-with-rule-without-paths");
    const hostsOf = (query?: RoutesQuery) =>
      buildRoutesDocument(translation, "p", query).routes.ingress.hosts.filter(({ port }) => port === 80);
    expect(hostsOf().map(({ host }) => host)).to.deep.equal(["*", "a.example.com", "b.example.com"]);
    expect(hostsOf({}).map(({ host }) => host)).to.deep.equal(["*", "a.example.com"]);
  });

  describe("with a query", () => {
    const translation = translationOf("ingress-with-conflict");
    const select = (query: RoutesQuery) => {
      const { routes, total, returned, offset } = buildRoutesDocument(translation, "p", query);
      const shown = routes.ingress.hosts.flatMap(({ port, routes: entries }) =>
        entries.map(({ type, path }) => `${port} ${type} ${path}`),
      );
      return { shown, total, returned, offset, conflicts: routes.ingress.conflicts.length };
    };

    it("a query selects routes by host, namespace and path", () => {
      expect(select({ host: "b.example.com" })).to.deep.equal({
        shown: [],
        total: 0,
        returned: 0,
        offset: 0,
        conflicts: 0,
      });
      expect(select({ host: "a.example.com", namespace: "blog", path: "/own" }).shown).to.deep.equal([
        "80 prefix /own",
        "443 prefix /own",
      ]);
      expect(select({ namespace: "shop" }).conflicts).to.equal(0);
      expect(select({ namespace: "blog", path: "/app" }).conflicts).to.equal(2);
    });

    it("a query pages through the routes in the order of the document", () => {
      const all = select({}).shown;
      expect(all).to.have.lengthOf(8);
      const page = select({ offset: 3, limit: 2 });
      expect(page.shown).to.deep.equal(all.slice(3, 5));
      expect(page).to.include({ total: 8, returned: 2, offset: 3 });
      expect(select({ offset: 8 })).to.include({ total: 8, returned: 0 });
    });
  });
});
