import type { L4Port } from "@svc-gateway/common/ir/l4.ts";
import { expect } from "chai";
import type { KubeObject } from "../../../../src/api/object.ts";
import { defaultTranslateSettings } from "../../../../src/translate/settings.ts";
import { translate } from "../../../../src/translate/translate.ts";
import { createWorld, updateWorld, type World } from "../../../../src/world.ts";

const group = "gateway.networking.k8s.io/v1";

/** An object of the namespace `shop`, created on that day. */
const object = (kind: string, name: string, day: number, spec: object): KubeObject => ({
  apiVersion: kind === "Service" ? "v1" : group,
  kind,
  metadata: { name, namespace: "shop", creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  ...{ spec },
});

const basics = [
  object("GatewayClass", "svc", 1, { controllerName: defaultTranslateSettings.controllerName }),
  object("Service", "db", 1, { ports: [{ port: 5432 }] }),
];

const gateway = (name: string, day: number, ...listeners: readonly object[]): KubeObject =>
  object("Gateway", name, day, { gatewayClassName: "svc", listeners });

const route = (kind: string, name: string, day: number, hostnames?: readonly string[]): KubeObject =>
  object(kind, name, day, {
    parentRefs: [{ name: "edge" }],
    ...(hostnames && { hostnames }),
    rules: [{ backendRefs: [{ name: "db", port: 5432 }] }],
  });

const worldOf = (...objects: readonly KubeObject[]): World => createWorld([...basics, ...objects]);

/** The served routes, as `key host: route`. Also checks that a translation from scratch yields the same. */
function served(world: World): readonly string[] {
  const { scopes } = translate(world, defaultTranslateSettings);
  expect(scopes).to.deep.equal(translate(world, { ...defaultTranslateSettings }).scopes);
  return scopes.shared
    .filter(({ key }) => key.startsWith("l4|"))
    .flatMap(({ key, body }) =>
      (JSON.parse(body) as L4Port).hosts.map(
        ({ host, route: taken }) => `${key} ${host}: ${taken?.id ?? "none"}`,
      ),
    );
}

describe("listeners below HTTP", () => {
  const tcp = gateway("edge", 1, { name: "db", port: 5432, protocol: "TCP" });
  const tls = gateway("edge", 1, { name: "tls", port: 443, protocol: "TLS", tls: { mode: "Passthrough" } });

  it("a TCP listener serves the oldest TCPRoute, and the next one after its removal", () => {
    const world = worldOf(tcp, route("TCPRoute", "young", 3), route("TCPRoute", "old", 2));
    expect(served(world)).to.deep.equal(["l4|tcp|5432 *: tcproute/shop/old:0"]);
    const without = updateWorld(world, [
      { type: "delete", kind: "TCPRoute", namespace: "shop", name: "old" },
    ]);
    expect(served(without)).to.deep.equal(["l4|tcp|5432 *: tcproute/shop/young:0"]);
    const empty = updateWorld(without, [
      { type: "delete", kind: "TCPRoute", namespace: "shop", name: "young" },
    ]);
    expect(served(empty)).to.deep.equal(["l4|tcp|5432 *: none"]);
  });

  it("a TLS listener follows the hostnames of its TLSRoutes", () => {
    const world = worldOf(tls, route("TLSRoute", "wide", 2, ["*.example.com"]));
    expect(served(world)).to.deep.equal([
      "l4|tls|443 *: none",
      "l4|tls|443 *.example.com: tlsroute/shop/wide:0",
    ]);
    const changed = updateWorld(world, [
      { type: "apply", object: route("TLSRoute", "narrow", 3, ["a.example.com"]) },
      { type: "apply", object: route("TLSRoute", "wide", 2, ["*.example.org"]) },
    ]);
    expect(served(changed)).to.deep.equal([
      "l4|tls|443 *: none",
      "l4|tls|443 a.example.com: tlsroute/shop/narrow:0",
      "l4|tls|443 *.example.org: tlsroute/shop/wide:0",
    ]);
  });

  it("of two Gateways with a TCP listener on one port, the older one serves it", () => {
    const younger = gateway(
      "young",
      2,
      { name: "db", port: 5432, protocol: "TCP" },
      { name: "dns", port: 5432, protocol: "UDP" },
    );
    const world = worldOf(tcp, younger, route("TCPRoute", "db", 2));
    expect(served(world)).to.deep.equal(["l4|tcp|5432 *: tcproute/shop/db:0", "l4|udp|5432 *: none"]);
    const { gatewayStatuses } = translate(world, defaultTranslateSettings);
    const [listener] = gatewayStatuses.gateways[1]?.listeners ?? [];
    expect(listener?.conditions[0]).to.include({ status: "False", reason: "PortUnavailable" });
  });
});
