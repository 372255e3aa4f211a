import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { until } from "../../../../common/test/until.ts";
import type { KindName } from "../../../src/api/kinds.ts";
import { createApiClient } from "../../../src/sources/kubernetes/api-client.ts";
import { startClusterSource } from "../../../src/sources/kubernetes/cluster-source.ts";
import type { InstalledKind } from "../../../src/sources/kubernetes/installed-kinds.ts";
import { ingressManifest } from "../../runtime/manifests.ts";
import { startFakeCluster, type FakeCluster } from "./fake-cluster.ts";

const ingresses = "/apis/networking.k8s.io/v1/ingresses";
const secrets = "/api/v1/secrets";

const ingressKind: InstalledKind = { kind: "Ingress", apiVersion: "networking.k8s.io/v1", path: ingresses };
const secretKind: InstalledKind = { kind: "Secret", apiVersion: "v1", path: secrets };

/** Follows a fake cluster. */
async function follow(cluster: FakeCluster, kinds: readonly InstalledKind[]) {
  const client = await createApiClient(cluster.config);
  const abort = new AbortController();
  const seen = { dirty: 0, observed: [] as string[], events: [] as string[], watches: [] as string[] };
  const source = startClusterSource({
    client,
    kinds,
    ownSecrets: [{ namespace: "svc-system", name: "own" }],
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

  it("is ready, and dirty for the first time, only when every watch has listed", async () => {
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

  it("follows changes, and is dirty only for those that change the world", async () => {
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

  it("takes what went away during an outage out of the world, and keeps what stayed as it is", async () => {
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

  it("reads only the Secrets that it may use, and each as long as one selection names it", async () => {
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

  it("refuses an object that is not valid and keeps its last good state", async () => {
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
});
