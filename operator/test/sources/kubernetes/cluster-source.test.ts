import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { until } from "../../../../common/test/until.ts";
import type { KindName } from "../../../src/api/kinds.ts";
import { createApiClient } from "../../../src/sources/kubernetes/api-client.ts";
import {
  startClusterSource,
  type ClusterSource,
  type ClusterSourceOptions,
} from "../../../src/sources/kubernetes/cluster-source.ts";
import type { InstalledKind } from "../../../src/sources/kubernetes/installed-kinds.ts";
import { readTlsSecret } from "../../../src/translate/certificates/tls-secret.ts";
import { ingressManifest, svcClass } from "../../support/manifests.ts";
import { startFakeCluster, type FakeCluster } from "./fake-cluster.ts";

const ingresses = "/apis/networking.k8s.io/v1/ingresses";
const secrets = "/api/v1/secrets";

const ingressKind: InstalledKind = { kind: "Ingress", apiVersion: "networking.k8s.io/v1", path: ingresses };
const secretKind: InstalledKind = { kind: "Secret", apiVersion: "v1", path: secrets };

/** Follows a fake cluster. */
async function follow(
  cluster: FakeCluster,
  kinds: readonly InstalledKind[],
  options: Partial<
    Pick<ClusterSourceOptions, "namedSecrets" | "maxNamespaceBytes" | "namespaces" | "readsPlainSecrets">
  > = {},
) {
  const client = await createApiClient(cluster.config);
  const abort = new AbortController();
  const seen = { dirty: 0, observed: [] as string[], events: [] as string[], watches: [] as string[] };
  const source = startClusterSource({
    client,
    kinds,
    ownSecrets: [{ namespace: "svc-system", name: "own" }],
    namedSecrets: ["both", "tls", "users"].map((name) => ({ namespace: "ns", name })),
    maxNamespaceBytes: 1e9,
    ...options,
    log: silentLogger,
    signal: abort.signal,
    onDirty: () => void seen.dirty++,
    onObserved: (kind, name) => seen.observed.push(`${kind} ${name}`),
    onWatch: (kind, _watch, state) => seen.watches.push(`${kind} ${state}`),
    onEvent: (kind, event) => seen.events.push(`${kind} ${event}`),
    onError: (kind) => seen.events.push(`${kind} error`),
  });
  return {
    source,
    seen,
    names: (kind: KindName) => source.world()[kind].map(({ metadata }) => metadata.name),
    async stop() {
      abort.abort();
      await source.done;
      await client.close();
    },
  };
}

const tlsSecret = (
  name: string,
  labels: Readonly<Record<string, string>> = {},
  type = "kubernetes.io/tls",
): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "ns", labels },
  type,
  data: { "tls.crt": "QQ==", "tls.key": "QQ==", auth: "QQ==" },
});

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

  describe("Secrets", () => {
    const ingressWith = (name: string, secretName: string): object => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name, namespace: "ns" },
      spec: {
        tls: [{ hosts: [`${name}.example`], secretName }],
        rules: [{ host: `${name}.example` }],
      },
    });
    const kinds = [ingressKind, secretKind];
    const secretsOf = (source: ClusterSource): readonly string[] =>
      source.world().Secret.map(({ metadata: { name } }) => name);
    const namedBy = (source: ClusterSource): readonly string[] =>
      source.world().Ingress.flatMap(({ spec }) => spec?.tls?.map(({ secretName = "" }) => secretName) ?? []);
    const none = { namedSecrets: [] };

    it("the held Secrets are those that an object names, and Secrets are listed in short pages", async () => {
      for (let index = 0; index < 60; index++) {
        const { data: _, ...secret } = tlsSecret(`s${index}`) as { data: object };
        cluster.put(secrets, { ...secret, data: { "tls.crt": "QUFB".repeat(50_000), "tls.key": "QQ==" } });
      }
      cluster.put(ingresses, ingressWith("a", "s7"));
      const { source, stop } = await follow(cluster, kinds, none);
      await until(() => source.ready, "the lists");
      expect(secretsOf(source)).to.deep.equal(["s7"]);
      const pages = cluster.requests.filter(
        (request) => request.includes("type%3Dkubernetes.io%2Ftls") && !request.includes("watch"),
      );
      expect(pages).to.have.length(3);
      for (const page of pages) {
        expect(Number(new URL(page.split(" ")[1] ?? "", "http://a").searchParams.get("limit"))).to.be.at.most(
          50,
        );
      }
      await stop();
    });

    it("a Secret without a label is held for ingress-nginx only, once, if an Ingress names it, with what can be users", async () => {
      const plain = (name: string, labels: Readonly<Record<string, string>>, type = "Opaque"): object => ({
        ...tlsSecret(name, labels, type),
        data: {
          ...{ auth: "QQ==", ann: "QQ==", "ca.crt": "QQ==", "ca.crl": "QQ==", "tls.crt": "QQ==" },
          backup: "QUFB".repeat(1_000),
        },
      });
      const protect = (name: string, secret: string): object => ({
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: {
          name,
          namespace: "ns",
          annotations: { "nginx.ingress.kubernetes.io/auth-secret": secret },
        },
        spec: { rules: [{ host: `${name}.example` }] },
      });
      cluster.put(secrets, plain("named", {}));
      cluster.put(secrets, plain("labelled", { "ingress.svc-labs.dev/auth-basic": "true" }));
      cluster.put(secrets, plain("unnamed", {}));
      cluster.put(secrets, plain("token", {}, "kubernetes.io/service-account-token"));
      for (const name of ["named", "labelled", "token"]) cluster.put(ingresses, protect(name, name));
      const without = await follow(cluster, kinds, none);
      await until(() => without.source.ready, "the lists");
      expect(secretsOf(without.source)).to.deep.equal(["labelled"]);
      await without.stop();
      const { source, stop } = await follow(cluster, kinds, { ...none, readsPlainSecrets: true });
      await until(() => source.ready, "the lists");
      expect(secretsOf(source)).to.have.members(["labelled", "named"]);
      const [held] = source.world().Secret.filter(({ metadata: { name } }) => name === "named");
      expect(held?.data).to.have.all.keys("auth", "ann", "ca.crt", "ca.crl", "tls.crt");
      // A label that comes later moves it from one watch to another.
      cluster.put(secrets, plain("named", { "ingress.svc-labs.dev/auth-basic": "true" }));
      const isLabelled = (): boolean =>
        source
          .world()
          .Secret.some(
            ({ metadata }) =>
              metadata.name === "named" &&
              metadata.labels !== undefined &&
              Object.keys(metadata.labels).length > 0,
          );
      await until(isLabelled, "the label");
      expect(secretsOf(source)).to.have.members(["labelled", "named"]);
      await stop();
    });

    it("a Secret that is named later is read, and its Ingress appears only with it", async () => {
      cluster.put(secrets, tlsSecret("late"));
      const { source, names, stop } = await follow(cluster, kinds, none);
      await until(() => source.ready, "the lists");
      let asked = 0;
      cluster.intercept = (_request, url) => {
        if (url.pathname.endsWith("/secrets/late")) asked += 1;
        return undefined;
      };
      cluster.put(ingresses, ingressWith("a", "late"));
      await until(() => names("Ingress").length === 1, "the Ingress");
      expect(secretsOf(source)).to.deep.equal(["late"]);
      expect(asked).to.equal(1);
      await stop();
    });

    it("the read of a Secret is retried while the API server fails, and its Ingress appears without it after a while", async () => {
      cluster.put(secrets, tlsSecret("late"));
      const { source, names, stop } = await follow(cluster, kinds, none);
      await until(() => source.ready, "the lists");
      let isDown = true;
      cluster.intercept = (_request, url) =>
        isDown && url.pathname.endsWith("/secrets/late") ? { status: 503, body: {} } : undefined;
      cluster.put(ingresses, ingressWith("a", "late"));
      await until(() => names("Ingress").length === 1, "the Ingress");
      expect(secretsOf(source)).to.deep.equal([]);
      isDown = false;
      await until(() => secretsOf(source).length === 1, "the Secret");
      await stop();
    });

    it("an Ingress keeps its old Secret until the newly named one is read", async () => {
      cluster.put(secrets, tlsSecret("one"));
      cluster.put(secrets, tlsSecret("two"));
      cluster.put(ingresses, ingressWith("a", "one"));
      const { source, seen, stop } = await follow(cluster, kinds, none);
      await until(() => source.ready, "the lists");
      const states: string[] = [];
      const look = (): void => {
        states.push(`${namedBy(source).join()} ${secretsOf(source).join()}`);
      };
      look();
      cluster.intercept = () => {
        look();
        return undefined;
      };
      cluster.put(ingresses, ingressWith("a", "two"));
      await until(() => namedBy(source).includes("two"), "the change");
      look();
      expect([...new Set(states)]).to.deep.equal(["one one", "two two"]);
      expect(seen.events).to.not.include("Secret error");
      await stop();
    });

    it("a Secret that no object names any more is dropped, and read again later", async () => {
      cluster.put(secrets, tlsSecret("one"));
      cluster.put(ingresses, ingressWith("a", "one"));
      cluster.put(ingresses, ingressWith("b", "one"));
      const { source, names, stop } = await follow(cluster, kinds, none);
      await until(() => source.ready, "the lists");
      cluster.remove(ingresses, "ns/a");
      await until(() => names("Ingress").length === 1, "the end of a");
      expect(secretsOf(source)).to.deep.equal(["one"]);
      cluster.remove(ingresses, "ns/b");
      await until(() => names("Ingress").length === 0, "the end of b");
      expect(secretsOf(source)).to.deep.equal([]);
      cluster.put(secrets, { ...tlsSecret("one"), data: { "tls.crt": "Qg==", "tls.key": "QQ==" } });
      cluster.put(ingresses, ingressWith("c", "one"));
      await until(() => names("Ingress").length === 1, "c");
      expect(source.world().Secret[0]?.data?.["tls.crt"]).to.equal("Qg==");
      await stop();
    });

    it("a Secret that was deleted while it was being read does not reappear", async () => {
      cluster.put(secrets, tlsSecret("one"));
      const { source, seen, names, stop } = await follow(cluster, kinds, none);
      await until(() => source.ready, "the lists");
      const stale = cluster.get(secrets, "ns/one");
      cluster.intercept = (_request, url) => {
        if (!url.pathname.endsWith("/secrets/one")) return undefined;
        return { status: 200, body: stale ?? {} };
      };
      cluster.remove(secrets, "ns/one");
      await until(() => seen.events.includes("Secret delete"), "the deletion");
      cluster.put(ingresses, ingressWith("a", "one"));
      await until(() => names("Ingress").length === 1, "the Ingress");
      expect(secretsOf(source)).to.deep.equal([]);
      await stop();
    });

    it("only the usable values of a named Secret are held, and none of more than 256 KiB", async () => {
      const { data: _, ...secret } = tlsSecret("one") as { data: object };
      const large = Buffer.alloc(256 * 1024 + 3).toString("base64");
      const largest = Buffer.alloc(256 * 1024).toString("base64");
      cluster.put(secrets, {
        ...secret,
        data: { "tls.crt": large, "tls.key": largest, "keystore.p12": "QQ==" },
      });
      cluster.put(ingresses, ingressWith("a", "one"));
      const { source, stop } = await follow(cluster, kinds, none);
      await until(() => source.ready, "the lists");
      const [held] = source.world().Secret;
      expect(Object.keys(held?.data ?? {})).to.deep.equal(["tls.crt", "tls.key"]);
      expect(held?.data?.["tls.key"]).to.equal(largest);
      const read = held && readTlsSecret({ ...held, data: { ...held.data, "tls.key": "QQ==" } });
      expect(read?.ok === false && read.error.message).to.equal("tls.crt is larger than 256 KiB");
      await stop();
    });
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
