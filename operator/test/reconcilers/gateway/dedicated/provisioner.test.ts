import { expect } from "chai";
import { finalizer } from "../../../../src/reconcilers/gateway/dedicated/finalizer.ts";
import { provisioner } from "../../../../src/reconcilers/gateway/dedicated/provisioner.ts";
import { createTrustCopies } from "../../../../src/reconcilers/gateway/dedicated/trust.ts";
import { createNotes } from "../../../../src/reconcilers/gateway/notes.ts";
import type { Build } from "../../../../src/runtime/table-builder.ts";
import { buildOf, dedicatedGatewayYaml, dedicatedSettings, gatewayYaml } from "../support.ts";
import { createFakeCluster, type FakeCluster } from "./fake-cluster.ts";

const gatewayPath = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/gateways/edge";
const deploymentPath = "/apis/apps/v1/namespaces/shop/deployments/edge-svc";
const servicePath = "/api/v1/namespaces/shop/services/edge-svc";
const accountPath = "/api/v1/namespaces/shop/serviceaccounts/edge-svc";
const trustPath = "/api/v1/namespaces/shop/configmaps/svc-discovery-trust";

const liveGateway = (finalizers: readonly string[] = []) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "edge", namespace: "shop", uid: "uid-edge", resourceVersion: "1", finalizers },
});

const dedicated = (change: (yaml: string) => string = (yaml) => yaml): Build =>
  buildOf(change(dedicatedGatewayYaml), { dedicated: dedicatedSettings });

function setUp(cluster: FakeCluster, isDone = false) {
  const failures = createNotes<string>();
  const refusals = createNotes<string>();
  const reconciler = provisioner({
    client: cluster.client,
    controllerName: "svc-labs.dev/gateway-controller",
    provisioned: cluster.provisioned,
    trust: createTrustCopies(cluster.client, "svc-system"),
    handover: { isDone: () => isDone },
    fleet: { subscribe: () => () => undefined },
    failures,
    refusals,
  });
  const signal = new AbortController().signal;
  const statuses = { write: () => Promise.reject(new Error("no status is written")) };
  return {
    reconciler,
    failures,
    refusals,
    run: (build: Build) => reconciler.reconcile("shop/edge", { build, statuses, signal }),
  };
}

describe("provisioner", () => {
  it("makes everything once, after the finalizer and the trust bundle, and then leaves it alone", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway(["other/finalizer"]) });
    const { run } = setUp(cluster);
    expect(await run(dedicated())).to.deep.equal({ ok: true, value: "created" });
    expect(cluster.writes()).to.deep.equal([
      `PATCH ${gatewayPath}`,
      `PATCH ${trustPath}`,
      `PATCH ${accountPath}`,
      `PATCH ${servicePath}`,
      `PATCH ${deploymentPath}`,
    ]);
    expect(cluster.objects.get(gatewayPath)?.metadata.finalizers).to.deep.equal([
      "other/finalizer",
      finalizer,
    ]);
    const known = cluster.writes().length;
    await run(dedicated((yaml) => yaml.replace("finalizers: []", `finalizers: [${finalizer}]`)));
    // The trust bundle is in the world from now on; here it is not.
    expect(cluster.writes().slice(known)).to.deep.equal([`PATCH ${trustPath}`]);
  });

  it("waits until it knows what is there, and then looks at Gateways that have nothing yet", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    let isListed = false;
    let tell = (): void => undefined;
    const provisioned: FakeCluster["provisioned"] = {
      ...cluster.provisioned,
      isListed: () => isListed,
      subscribe: (listener) => {
        tell = () => listener(undefined);
        return () => undefined;
      },
    };
    const { reconciler, run } = setUp({ ...cluster, provisioned });
    const looked: string[] = [];
    reconciler.subscribe?.((name) => looked.push(name));
    const build = dedicated();
    expect([...reconciler.dirty(undefined, build)]).to.deep.equal(["shop/edge"]);
    expect(await run(build)).to.deep.equal({ ok: true, value: "waiting" });
    expect(cluster.writes()).to.deep.equal([]);
    isListed = true;
    tell();
    expect(looked).to.deep.equal(["shop/edge"]);
  });

  it("puts right what somebody has changed, and makes again what somebody has deleted", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    const { run } = setUp(cluster);
    await run(dedicated());
    const made = cluster.objects.get(deploymentPath);
    if (made === undefined) throw new Error("no Deployment");
    cluster.objects.set(deploymentPath, { ...made, spec: { replicas: 7 } } as typeof made);
    cluster.objects.delete(servicePath);
    const known = cluster.writes().length;
    await run(dedicated());
    expect(cluster.writes().slice(known)).to.include.members([
      `PATCH ${servicePath}`,
      `PATCH ${deploymentPath}`,
    ]);
    expect(cluster.objects.get(deploymentPath)).to.have.nested.property("spec.replicas", 1);
    expect(cluster.writes().slice(known)).not.to.include(`PATCH ${accountPath}`);
  });

  it("leaves the Service, and with it the address, while no listener serves", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    const { run } = setUp(cluster);
    await run(dedicated());
    const made = cluster.objects.get(servicePath);
    await run(dedicated((yaml) => yaml.replace("protocol: HTTP }", "protocol: SCTP }")));
    expect(made).not.to.equal(undefined);
    expect(cluster.objects.get(servicePath)).to.equal(made);
  });

  it("does not look at what controllers report", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    const { run } = setUp(cluster);
    await run(dedicated());
    const made = cluster.objects.get(deploymentPath);
    if (made === undefined) throw new Error("no Deployment");
    const reported = {
      ...made,
      metadata: { ...made.metadata, resourceVersion: "9" },
      status: { readyReplicas: 1 },
    };
    cluster.objects.set(deploymentPath, reported);
    const known = cluster.writes().length;
    await run(dedicated());
    expect(cluster.writes().slice(known)).not.to.include(`PATCH ${deploymentPath}`);
  });

  it("leaves alone what somebody else has under the name, and says so", async () => {
    const foreign = { apiVersion: "v1", kind: "Service", metadata: { name: "edge-svc", namespace: "shop" } };
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway(), [servicePath]: foreign });
    const { run, failures } = setUp({
      ...cluster,
      provisioned: { ...cluster.provisioned, get: () => undefined },
    });
    expect((await run(dedicated())).ok).to.equal(false);
    expect(failures.get("shop/edge")).to.include(
      "Service shop/edge-svc exists, but was not made for this Gateway",
    );
    expect(cluster.objects.get(servicePath)).to.equal(foreign);
  });

  it("takes away what the Gateway does not need any more", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    const { run } = setUp(cluster);
    await run(
      dedicated((yaml) => yaml.replace("replicas: 1", "autoscaling: { enabled: true, minReplicas: 2 }")),
    );
    const kinds = () => [...cluster.objects.values()].map(({ kind }) => kind).sort();
    expect(kinds()).to.include.members(["HorizontalPodAutoscaler", "PodDisruptionBudget"]);
    await run(dedicated());
    expect(kinds()).to.deep.equal(["ConfigMap", "Deployment", "Gateway", "Service", "ServiceAccount"]);
  });

  it("takes everything away before the Gateway goes, and then lets it go", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway([finalizer]) });
    const { run } = setUp(cluster);
    await run(dedicated());
    const going = dedicated((yaml) =>
      yaml.replace("finalizers: []", `finalizers: [${finalizer}], deletionTimestamp: "2026-01-01T00:00:00Z"`),
    );
    const known = cluster.writes().length;
    await run(going);
    expect(cluster.writes().slice(known)).to.deep.equal([
      `DELETE ${accountPath}`,
      `DELETE ${deploymentPath}`,
      `DELETE ${servicePath}`,
      `PATCH ${gatewayPath}`,
    ]);
    expect(cluster.objects.get(gatewayPath)?.metadata.finalizers).to.deep.equal([]);
  });

  it("keeps the proxies of a Gateway that becomes a shared one until the shared proxies serve it", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway([finalizer]) });
    await setUp(cluster).run(dedicated());
    const service = cluster.objects.get(servicePath);
    const shared = buildOf(`${gatewayYaml}---\n${JSON.stringify(service)}`, { dedicated: dedicatedSettings });
    const known = cluster.writes().length;
    expect(await setUp(cluster).run(shared)).to.deep.equal({ ok: true, value: "waiting" });
    expect(cluster.writes()).to.have.length(known);
    await setUp(cluster, true).run(shared);
    expect(cluster.objects.has(deploymentPath)).to.equal(false);
    expect(cluster.objects.has(servicePath)).to.equal(false);
  });

  it("says that an address is refused, and leaves the Service that is there", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    const { run, refusals } = setUp(cluster);
    await run(dedicated());
    const pinned = dedicated((yaml) =>
      yaml.replace("gatewayClassName: svc", "gatewayClassName: svc\n  addresses: [{ value: 192.0.2.1 }]"),
    );
    cluster.refuse("/api/v1/namespaces/shop/services", 422);
    await run(pinned);
    expect(refusals.get("shop/edge")).to.equal("from the test");
    expect(cluster.objects.has(servicePath)).to.equal(true);
  });

  it("makes way for an address that is granted: the cluster IP of a Service cannot be changed", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    const { run } = setUp(cluster);
    await run(dedicated());
    const known = cluster.writes().length;
    await run(
      dedicated((yaml) =>
        yaml.replace("gatewayClassName: svc", "gatewayClassName: svc\n  addresses: [{ value: 10.96.0.7 }]"),
      ),
    );
    expect(
      cluster
        .writes()
        .slice(known)
        .filter((write) => write.includes("/services")),
    ).to.deep.equal([
      "POST /api/v1/namespaces/shop/services?dryRun",
      `DELETE ${servicePath}`,
      `PATCH ${servicePath}`,
    ]);
  });

  it("gives a Gateway of the shared proxies an account that carries its labels", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    const build = buildOf(
      gatewayYaml.replace(
        "gatewayClassName: svc",
        "gatewayClassName: svc\n  infrastructure: { labels: { team: shop }, annotations: { a: b } }",
      ),
      { dedicated: dedicatedSettings },
    );
    const { reconciler, run } = setUp(cluster);
    expect([...reconciler.dirty(undefined, build)]).to.include("shop/edge");
    await run(build);
    const account = cluster.objects.get(
      "/api/v1/namespaces/shop/serviceaccounts/shop-edge-3788f37a-shared-sa",
    );
    expect(account?.metadata.labels).to.include({ team: "shop" });
    expect(account?.metadata.annotations).to.include({ a: "b" });
  });
});
