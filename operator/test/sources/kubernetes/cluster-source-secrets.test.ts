import { expect } from "chai";
import { until } from "../../../../common/test/until.ts";
import type { ClusterSource } from "../../../src/sources/kubernetes/cluster-source.ts";
import { readTlsSecret } from "../../../src/translate/certificates/tls-secret.ts";
import { startFakeCluster, type FakeCluster } from "./fake-cluster.ts";
import { follow, ingresses, ingressKind, secretKind, secrets, tlsSecret } from "./followed-cluster.ts";

describe("startClusterSource, Secrets", () => {
  let cluster: FakeCluster;
  beforeEach(async () => (cluster = await startFakeCluster({ resources: {} })));
  afterEach(() => cluster.close());

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
