import type { Route } from "@svc-gateway/common/ir/route.ts";
import { expect } from "chai";
import type { ServedHost } from "../../src/translate/routing.ts";
import { createTakenHostFinder } from "../../src/translate/taken-hosts.ts";

const route = (id: string, more: Partial<Route> = {}): Route => ({
  id,
  source: { kind: "Ingress", namespace: "shop", name: "web" },
  match: { path: { type: "prefix", value: "/" } },
  backends: [],
  ...more,
});

const hostOf = (
  group: ServedHost["group"],
  host: string,
  ports: readonly number[],
  listener: string,
  routes: readonly Route[],
): ServedHost => ({
  group,
  ports,
  host: { kind: host === "*" ? "any" : "exact", host },
  value: { inherit: false, listener, routes },
});

const ofIngress = (host: string, ...routes: readonly Route[]): ServedHost =>
  hostOf("ingress", host, [80, 443], "ingress", routes);

const ofGateway = (host: string, port: number): { readonly served: ServedHost } => ({
  served: hostOf("gateway", host, [port], "Gateway/edge/gw/http", []),
});

describe("hosts of Ingresses that a Gateway has", () => {
  const ingresses = [
    ofIngress("*", route("ingress/shop/web:default", { fallback: true })),
    ofIngress(
      "a.example.com",
      route("ingress/shop/web:3.0"),
      route("ingress/shop/web:default", { fallback: true }),
    ),
    ofIngress("b.example.com", route("ingress/shop/web:4.0")),
  ];
  const found = (...gateways: readonly { readonly served: ServedHost }[]): readonly (readonly unknown[])[] =>
    createTakenHostFinder()(ingresses, gateways).map(({ field, message }) => [field, message.split(";")[0]]);

  it("a host of an Ingress that a Gateway takes is reported at its rule or default backend, with the ports", () => {
    expect(
      found(ofGateway("a.example.com", 80), ofGateway("a.example.com", 443), ofGateway("*", 80)),
    ).to.deep.equal([
      ["spec.rules[3]", "Host a.example.com on ports 80 and 443 belongs to listener http of Gateway edge/gw"],
      [
        "spec.defaultBackend",
        "Host * on port 80 belongs to listener http of Gateway edge/gw, which has no hostname and so serves every host that no Ingress names",
      ],
    ]);
  });

  it("a Gateway on other ports or with other hosts takes no host of an Ingress", () => {
    expect(found(ofGateway("a.example.com", 8000), ofGateway("c.example.com", 80))).to.deep.equal([]);
  });

  it("the search for taken hosts is repeated only when a host changed", () => {
    const find = createTakenHostFinder();
    const gateways = [ofGateway("*", 80)];
    expect(find(ingresses, gateways)).to.equal(find(ingresses, gateways));
    expect(find(ingresses, [])).to.deep.equal([]);
  });
});
