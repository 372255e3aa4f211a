import { expect } from "chai";
import { until } from "../../../../common/test/until.ts";
import type { InstalledKind } from "../../../src/sources/kubernetes/installed-kinds.ts";
import { ingressManifest, svcClass } from "../../support/manifests.ts";
import { startFakeCluster, type FakeCluster } from "./fake-cluster.ts";
import { follow, ingresses, ingressKind, secretKind, secrets, tlsSecret } from "./followed-cluster.ts";

describe("startClusterSource", () => {
  let cluster: FakeCluster;
  beforeEach(async () => (cluster = await startFakeCluster({ resources: {} })));
  afterEach(() => cluster.close());

  it("only the configured namespaces are read, besides cluster-scoped objects and own Secrets by name", async () => {
    const inNamespace = (name: string, namespace: string): object => {
      const manifest = ingressManifest(name, `${name}.example`);
      return { ...manifest, metadata: { ...manifest.metadata, namespace } };
    };
    cluster.put(ingresses, inNamespace("a", "shop"));
    cluster.put(ingresses, inNamespace("b", "blog"));
    cluster.put(ingresses, inNamespace("c", "other"));
    const classes = "/apis/networking.k8s.io/v1/ingressclasses";
    cluster.put(classes, svcClass);
    const classKind: InstalledKind = {
      kind: "IngressClass",
      apiVersion: "networking.k8s.io/v1",
      path: classes,
    };
    const { source, names, stop } = await follow(cluster, [ingressKind, classKind, secretKind], {
      namespaces: ["shop", "blog"],
    });
    await until(() => source.ready, "the lists");
    expect(names("Ingress")).to.deep.equal(["b", "a"]);
    expect(names("IngressClass")).to.deep.equal(["svc"]);
    expect(source.observed("Ingress", "shop/a")?.version).to.not.equal("");
    expect(source.observed("Ingress", "other/c")).to.equal(undefined);
    const asked = cluster.requests.map((request) => request.split(" ")[1]?.split("?")[0]);
    expect(asked).to.not.include.members([ingresses]);
    expect(asked).to.include("/api/v1/namespaces/svc-system/secrets");
    expect(asked.filter((path) => path === secrets)).to.deep.equal([]);
    cluster.put(ingresses, inNamespace("d", "blog"));
    cluster.put(ingresses, inNamespace("e", "other"));
    await until(() => names("Ingress").includes("d"), "the new Ingress");
    expect(names("Ingress")).to.deep.equal(["b", "d", "a"]);
    await stop();
  });

  it("the source is ready, and dirty for the first time, only when every watch has listed", async () => {
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    let isDown = true;
    cluster.intercept = (_request, url) =>
      isDown && url.pathname === secrets ? { status: 503, body: {} } : undefined;
    const { source, seen, names, stop } = await follow(cluster, [ingressKind, secretKind]);
    await until(() => seen.events.includes("Ingress init_done"), "Ingresses");
    await until(() => seen.events.includes("Secret error"), "an error");
    cluster.put(ingresses, ingressManifest("b", "b.example"));
    await until(() => seen.events.includes("Ingress apply"), "an event");
    expect([source.ready, seen.dirty]).to.deep.equal([false, 0]);
    isDown = false;
    await until(() => source.ready, "all lists");
    expect(seen.dirty).to.equal(1);
    expect(names("Ingress")).to.deep.equal(["a", "b"]);
    await stop();
  });

  it("the source is dirty only for changes of the world, not for statuses", async () => {
    const { source, seen, names, stop } = await follow(cluster, [ingressKind]);
    await until(() => source.ready, "the list");
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    await until(() => names("Ingress").length === 1, "a");
    const world = source.world();
    const dirty = seen.dirty;
    cluster.put(ingresses, {
      ...ingressManifest("a", "a.example"),
      status: { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } },
    });
    await until(() => seen.observed.includes("Ingress ns/a"), "a status");
    expect(source.world(), "the same world").to.equal(world);
    expect(seen.dirty).to.equal(dirty);
    expect(source.observed("Ingress", "ns/a")?.status).to.have.property("loadBalancer");
    cluster.remove(ingresses, "ns/a");
    await until(() => names("Ingress").length === 0, "the end of a");
    expect(seen.dirty).to.equal(dirty + 1);
    expect(source.observed("Ingress", "ns/a")).to.equal(undefined);
    await stop();
  });

  it("objects that were deleted during an outage are removed, and the others keep their identity", async () => {
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    cluster.put(ingresses, ingressManifest("b", "b.example"));
    const { source, seen, names, stop } = await follow(cluster, [ingressKind]);
    await until(() => source.ready, "the list");
    const [, before] = source.world().Ingress;
    cluster.intercept = () => ({ status: 503, body: {} });
    cluster.cutWatches();
    await until(() => seen.watches.includes("Ingress failed"), "a failure");
    cluster.remove(ingresses, "ns/a");
    cluster.compact();
    cluster.intercept = () => undefined;
    await until(
      () => seen.events.filter((event) => event === "Ingress init_done").length === 2,
      "a new list",
    );
    expect(names("Ingress")).to.deep.equal(["b"]);
    expect(source.world().Ingress[0], "nothing is worked out anew").to.equal(before);
    expect(seen.events).to.include("Ingress restart");
    expect(seen.watches.at(-1)).to.equal("Ingress works");
    await stop();
  });

  it("only the selected Secrets are read", async () => {
    cluster.put(secrets, tlsSecret("tls"));
    cluster.put(secrets, tlsSecret("users", { "ingress.svc-labs.dev/auth-basic": "true" }, "Opaque"));
    cluster.put(secrets, tlsSecret("both", { "ingress.svc-labs.dev/auth-tls": "true" }));
    cluster.put(secrets, tlsSecret("private", {}, "Opaque"));
    cluster.put(secrets, tlsSecret("own", {}, "Opaque"));
    cluster.put(secrets, {
      ...tlsSecret("own", {}, "Opaque"),
      metadata: { name: "own", namespace: "svc-system" },
    });
    const { source, stop } = await follow(cluster, [secretKind]);
    const names = (): readonly string[] =>
      source.world().Secret.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    await until(() => source.ready, "the lists");
    expect(names()).to.deep.equal(["ns/both", "ns/tls", "ns/users", "svc-system/own"]);
    cluster.remove(secrets, "ns/tls");
    await until(() => names().length === 3, "one Secret less");
    await stop();
  });

  it("an invalid object is rejected and its last valid version stays", async () => {
    const { source, names, stop } = await follow(cluster, [ingressKind]);
    await until(() => source.ready, "the list");
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    await until(() => names("Ingress").length === 1, "a");
    const [before] = source.world().Ingress;
    cluster.put(ingresses, { ...ingressManifest("a", "a.example"), spec: { rules: 7 } });
    cluster.put(ingresses, ingressManifest("b", "b.example"));
    await until(() => names("Ingress").length === 2, "b");
    expect(source.world().Ingress[0]).to.equal(before);
    await stop();
  });

  describe("memory budgets of namespaces", () => {
    const ingressOf = (namespace: string, name: string, day: number, bytes: number): object => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        name,
        namespace,
        creationTimestamp: `2030-01-0${day}T00:00:00Z`,
        annotations: { note: "x".repeat(bytes) },
      },
      spec: { rules: [{ host: `${name}.example` }] },
    });

    it("the newest objects of a namespace above its memory limit are left out and return when there is room", async () => {
      cluster.put(ingresses, ingressOf("team", "old", 1, 4000));
      cluster.put(ingresses, ingressOf("team", "new", 3, 4000));
      cluster.put(ingresses, ingressOf("shop", "other", 9, 4000));
      const { source, names, stop } = await follow(cluster, [ingressKind], { maxNamespaceBytes: 10_000 });
      await until(() => source.ready, "the list");
      expect(names("Ingress")).to.deep.equal(["other", "new", "old"]);
      cluster.put(ingresses, ingressOf("team", "middle", 2, 4000));
      await until(() => source.leftOut().length === 1 && names("Ingress").length === 3, "the bound");
      expect(names("Ingress")).to.deep.equal(["other", "middle", "old"]);
      expect(source.leftOut()[0]).to.include({ kind: "Ingress", namespace: "team", name: "new" });
      cluster.remove(ingresses, "ns/old");
      cluster.remove(ingresses, "team/old");
      await until(() => names("Ingress").includes("new"), "the return");
      expect(source.leftOut()).to.deep.equal([]);
      await stop();
    });
  });
});
