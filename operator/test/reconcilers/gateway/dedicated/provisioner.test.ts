import { expect } from "chai";
import type { Build } from "../../../../src/build/table-builder.ts";
import { finalizer } from "../../../../src/reconcilers/gateway/dedicated/finalizer.ts";
import { provisioner } from "../../../../src/reconcilers/gateway/dedicated/provisioner.ts";
import { createTrustCopies } from "../../../../src/reconcilers/gateway/dedicated/trust.ts";
import { createNotes } from "../../../../src/reconcilers/gateway/notes.ts";
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
  const taken = createNotes<string>();
  const reconciler = provisioner({
    client: cluster.client,
    controllerName: "svc-labs.dev/gateway-controller",
    provisioned: cluster.provisioned,
    trust: createTrustCopies(cluster.client, "svc-system"),
    handover: { isDone: () => isDone },
    fleet: { subscribe: () => () => undefined },
    failures,
    refusals,
    taken,
  });
  const signal = new AbortController().signal;
  const statuses = { write: () => Promise.reject(new Error("no status is written")) };
  return {
    reconciler,
    failures,
    refusals,
    taken,
    run: (build: Build) => reconciler.reconcile("shop/edge", { build, statuses, signal }),
  };
}

describe("provisioner", () => {
  it("all objects of a Gateway are created once, after the finalizer and the trust bundle, and not written again", async () => {
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

  it("the provisioner waits until existing objects are listed, and then handles Gateways without objects", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    let isListed = false;
    let notify = (): void => undefined;
    const provisioned: FakeCluster["provisioned"] = {
      ...cluster.provisioned,
      isListed: () => isListed,
      subscribe: (listener) => {
        notify = () => listener(undefined);
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
    notify();
    expect(looked).to.deep.equal(["shop/edge"]);
  });

  it("a changed object is restored and a deleted one created again", async () => {
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

  it("the Service and its address stay while no listener is served", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    const { run } = setUp(cluster);
    await run(dedicated());
    const made = cluster.objects.get(servicePath);
    await run(dedicated((yaml) => yaml.replace("protocol: HTTP }", "protocol: SCTP }")));
    expect(made).not.to.equal(undefined);
    expect(cluster.objects.get(servicePath)).to.equal(made);
  });

  it("a change of status alone is not a reason to write an object", async () => {
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

  it("an object of another owner under the same name is left unchanged and reported", async () => {
    const foreign = { apiVersion: "v1", kind: "Service", metadata: { name: "edge-svc", namespace: "shop" } };
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway(), [servicePath]: foreign });
    const { run, failures } = setUp({
      ...cluster,
      provisioned: { ...cluster.provisioned, get: () => undefined },
    });
    expect((await run(dedicated())).ok).to.equal(false);
    expect(failures.get("shop/edge")).to.include(
      "Service shop/edge-svc exists but was not created for this Gateway",
    );
    expect(cluster.objects.get(servicePath)).to.equal(foreign);
  });

  it("an object with another owner reference is never written, even if this controller created it", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway([finalizer]) });
    await setUp(cluster).run(dedicated());
    for (const path of [accountPath, servicePath, deploymentPath]) {
      const made = cluster.objects.get(path);
      if (made === undefined) throw new Error(`no ${path}`);
      const [owner] = made.metadata.ownerReferences ?? [];
      const foreign = {
        ...made,
        metadata: { ...made.metadata, ownerReferences: [{ ...owner, name: "other", uid: "uid-other" }] },
      } as typeof made;
      cluster.objects.set(path, foreign);
      const { run, failures, taken } = setUp(cluster);
      const known = cluster.writes().length;
      for (let times = 0; times < 3; times++) expect((await run(dedicated())).ok).to.equal(false);
      expect(cluster.writes().slice(known)).not.to.include(`PATCH ${path}`);
      expect(cluster.objects.get(path)).to.equal(foreign);
      expect(taken.get("shop/edge")).to.match(
        /^\w+ shop\/edge-svc exists but was not created for this Gateway/,
      );
      expect(failures.get("shop/edge")).to.equal(taken.get("shop/edge"));
      cluster.objects.set(path, made);
      expect((await run(dedicated())).ok).to.equal(true);
      expect(taken.get("shop/edge")).to.equal(undefined);
    }
  });

  it("objects of a former Gateway of the same name are not deleted", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway([finalizer]) });
    const { run } = setUp(cluster);
    await run(dedicated((yaml) => yaml.replace("replicas: 1", "replicas: 2")));
    const budgetPath = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/edge-svc";
    const budget = cluster.objects.get(budgetPath);
    if (budget === undefined) throw new Error("no budget");
    const [owner] = budget.metadata.ownerReferences ?? [];
    cluster.objects.set(budgetPath, {
      ...budget,
      metadata: { ...budget.metadata, ownerReferences: [{ ...owner, uid: "uid-before" }] },
    } as typeof budget);
    await run(dedicated());
    expect(cluster.objects.has(budgetPath)).to.equal(true);
  });

  it("two Gateways with one account name settle: the older keeps the name, and neither is written again", async () => {
    const classes = (...names: readonly string[]): string =>
      names
        .map(
          (name) => `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: ${name} }
spec:
  controllerName: svc-labs.dev/gateway-controller
  parametersRef: { group: gateway.svc-labs.dev, kind: SvcGatewayParameters, name: own, namespace: shop }
---`,
        )
        .join("");
    const gateway = (name: string, className: string, year: number): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: shop, uid: uid-${name}, creationTimestamp: "${year}-01-01T00:00:00Z" }
spec:
  gatewayClassName: ${className}
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---`;
    const pathOf = (name: string): string =>
      `/apis/gateway.networking.k8s.io/v1/namespaces/shop/gateways/${name}`;
    const live = (name: string) => ({
      ...liveGateway(),
      metadata: { ...liveGateway().metadata, name, uid: `uid-${name}` },
    });
    const cluster = createFakeCluster({ [pathOf("a")]: live("a"), [pathOf("a-b")]: live("a-b") });
    const parameters = dedicatedGatewayYaml.slice(
      dedicatedGatewayYaml.indexOf("apiVersion: gateway.svc-labs.dev"),
    );
    const yaml = `${classes("b-c", "c")}${gateway("a", "b-c", 2025)}${gateway("a-b", "c", 2024)}\n${parameters}`;
    const build = buildOf(yaml, { dedicated: dedicatedSettings });
    const { reconciler } = setUp(cluster);
    const statuses = { write: () => Promise.reject(new Error("no status is written")) };
    const { signal } = new AbortController();
    const runAll = async (): Promise<void> => {
      for (const name of ["shop/a", "shop/a-b"]) {
        const result = await reconciler.reconcile(name, { build, statuses, signal });
        expect(result.ok, JSON.stringify(result)).to.equal(true);
      }
    };
    await runAll();
    const accounts = [...cluster.objects.values()]
      .filter(({ kind }) => kind === "ServiceAccount")
      .map(({ metadata }) => [metadata.name, metadata.ownerReferences?.[0]?.uid]);
    expect(accounts).to.have.deep.members([
      ["a-b-c", "uid-a-b"],
      ["a-b-c-8585119b", "uid-a"],
    ]);
    const known = cluster.writes().length;
    for (let times = 0; times < 3; times++) await runAll();
    const later = cluster.writes().slice(known);
    expect(later.filter((write) => /serviceaccounts|deployments|services/.test(write))).to.deep.equal([]);
  });

  it("objects of a Gateway whose class was deleted stay until the Gateway is deleted", async () => {
    for (const hasService of [true, false]) {
      const cluster = createFakeCluster({ [gatewayPath]: liveGateway([finalizer]) });
      await setUp(cluster).run(dedicated());
      const service = hasService ? `---\n${JSON.stringify(cluster.objects.get(servicePath))}` : "";
      const withoutClass = (yaml: string): string => yaml.replace("name: svc }", "name: other }");
      const gone = buildOf(`${withoutClass(dedicatedGatewayYaml)}${service}`, {
        dedicated: dedicatedSettings,
      });
      const known = cluster.writes().length;
      expect(await setUp(cluster).run(gone)).to.deep.equal({ ok: true, value: "held" });
      expect(cluster.writes()).to.have.length(known);
      const going = withoutClass(dedicatedGatewayYaml).replace(
        "finalizers: []",
        `finalizers: [${finalizer}], deletionTimestamp: "2026-01-01T00:00:00Z"`,
      );
      await setUp(cluster).run(buildOf(`${going}${service}`, { dedicated: dedicatedSettings }));
      expect(cluster.writes().slice(known)).to.include(`DELETE ${deploymentPath}`);
      expect(cluster.objects.get(gatewayPath)?.metadata.finalizers).to.deep.equal([]);
    }
  });

  it("the account of a shared Gateway stays while it is undecided which proxies should serve it", async () => {
    const cluster = createFakeCluster({ [gatewayPath]: liveGateway() });
    await setUp(cluster).run(buildOf(gatewayYaml, { dedicated: dedicatedSettings }));
    const account = "/api/v1/namespaces/shop/serviceaccounts/shop-edge-3788f37a-shared-sa";
    expect(cluster.objects.has(account)).to.equal(true);
    const unclear = gatewayYaml.replace(
      "gatewayClassName: svc",
      "gatewayClassName: svc\n  infrastructure: { parametersRef: { group: x, kind: Y, name: z } }",
    );
    await setUp(cluster).run(buildOf(unclear, { dedicated: dedicatedSettings }));
    expect(cluster.objects.has(account)).to.equal(true);
  });

  it("objects that a Gateway no longer needs are deleted", async () => {
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

  it("all objects are deleted before the finalizer is removed from a deleted Gateway", async () => {
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

  it("the dedicated proxies of a Gateway that becomes shared stay until the shared proxies serve it", async () => {
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

  it("a rejected address is reported, and the existing Service stays", async () => {
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

  it("the Service is recreated for a granted address, since a cluster IP cannot be changed", async () => {
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

  it("a Gateway of the shared proxies gets a ServiceAccount that carries its labels", async () => {
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
