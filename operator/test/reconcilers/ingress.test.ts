import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import type { Build } from "../../src/build/table-builder.ts";
import { ingressReconciler } from "../../src/reconcilers/ingress.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld, updateWorld } from "../../src/world.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";
import { statusAfter } from "./gateway/support.ts";

const sharedProxyService = { namespace: "svc-system", name: "svc-shared-proxy" };

const proxyService = (ingress: readonly object[]): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "svc-shared-proxy", namespace: "svc-system" },
    spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
    status: { loadBalancer: { ingress } },
  }) as unknown as KubeObject;

const settings = { ...defaultTranslateSettings };

const buildOf = (...objects: readonly KubeObject[]): Build => {
  const world = createWorld([svcClass, ...objects]);
  return { world, translation: translate(world, settings) };
};

const changed = ({ world }: Build, object: KubeObject): Build => {
  const next = updateWorld(world, [{ type: "apply", object }]);
  return { world: next, translation: translate(next, settings) };
};

const withAddress = (statusAddress: string | undefined) =>
  ingressReconciler({ statusAddress, sharedProxyService });

const a = ingressManifest("a", "a.example");
const b = ingressManifest("b", "b.example");
const theirs = {
  ...b,
  spec: { ...(b as unknown as { spec: object }).spec, ingressClassName: "nginx" },
} as KubeObject;

describe("ingressReconciler", () => {
  const ip = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };

  it("the address of --status-address is written as an IP address or a hostname", async () => {
    const build = buildOf(a, proxyService([{ ip: "198.51.100.1" }]));
    expect(await statusAfter(withAddress("192.0.2.1"), build, "ns/a", {})).to.deep.equal(ip);
    expect(await statusAfter(withAddress("lb.example"), build, "ns/a", ip)).to.deep.equal({
      loadBalancer: { ingress: [{ hostname: "lb.example" }] },
    });
  });

  it("the addresses of the shared proxies' Service are written without --status-address", async () => {
    const build = buildOf(
      a,
      proxyService([{ ip: "192.0.2.1", ipMode: "VIP" }, { hostname: "lb.example" }, {}]),
    );
    expect(await statusAfter(withAddress(undefined), build, "ns/a", {})).to.deep.equal({
      loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "lb.example" }] },
    });
  });

  it("no address is written before the Service has one, and it is cleared when the Service loses it", async () => {
    const none = { loadBalancer: {} };
    expect(await statusAfter(withAddress(undefined), buildOf(a), "ns/a", none)).to.deep.equal(none);
    expect(await statusAfter(withAddress(undefined), buildOf(a, proxyService([])), "ns/a", ip)).to.deep.equal(
      none,
    );
  });

  it("addresses of the controller that served the Ingress before are replaced", async () => {
    const before = { loadBalancer: { ingress: [{ ip: "203.0.113.9" }] }, extra: 1 };
    expect(await statusAfter(withAddress("192.0.2.1"), buildOf(a), "ns/a", before)).to.deep.equal({
      ...ip,
      extra: 1,
    });
  });

  it("the own address is removed from an Ingress of another class, and another controller's address stays", async () => {
    const build = buildOf(a, theirs);
    const reconciler = withAddress("192.0.2.1");
    expect(await statusAfter(reconciler, build, "ns/b", ip)).to.deep.equal({ loadBalancer: {} });
    const written = { loadBalancer: { ingress: [{ ip: "203.0.113.9" }] } };
    expect(await statusAfter(reconciler, build, "ns/b", written)).to.deep.equal(written);
  });

  it("a deleted Ingress is not written", async () => {
    expect(await statusAfter(withAddress("192.0.2.1"), buildOf(a), "ns/gone", {})).to.equal(undefined);
  });

  it("all Ingresses are reconciled at first, then only those that changed", () => {
    const reconciler = withAddress(undefined);
    const dirty = (before: Build | undefined, after: Build): readonly string[] => [
      ...reconciler.dirty(before, after),
    ];
    const first = buildOf(a, b, proxyService([{ ip: "192.0.2.1" }]));
    expect(dirty(undefined, first)).to.deep.equal(["ns/a", "ns/b"]);
    expect(dirty(first, first)).to.deep.equal([]);
    const edited = changed(first, ingressManifest("b", "c.example"));
    expect(new Set(dirty(first, edited))).to.deep.equal(new Set(["ns/b"]));
    const lost = changed(edited, theirs);
    expect(dirty(edited, lost)).to.deep.equal(["ns/b"]);
    const moved = changed(lost, proxyService([{ ip: "192.0.2.2" }]));
    expect(new Set(dirty(lost, moved))).to.deep.equal(new Set(["ns/a"]));
  });
});
