import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import { type Stored } from "../sources/kubernetes/fake-cluster.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";

import {
  addressOf,
  createReplicaRig,
  holderOf,
  ingressClasses,
  ingresses,
  leases,
  lockName,
  proxyService,
  services,
} from "./replica-rig.ts";

describe("replicas of the controller", () => {
  const { useCluster, startReplica } = createReplicaRig();

  it("a replica publishes nothing and is not ready before every watch has listed", async () => {
    const cluster = await useCluster();
    cluster.put(ingressClasses, svcClass);
    cluster.put(services, proxyService("192.0.2.1"));
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    let isForbidden = true;
    cluster.intercept = (request, url) =>
      isForbidden && url.pathname === "/api/v1/namespaces" && request.method === "GET"
        ? { status: 403, body: { reason: "Forbidden" } }
        : undefined;
    const replica = await startReplica("ctl-0");
    await until(() => replica.isLeading(), "leadership");
    await until(() => replica.checks()?.["ingress"] === "Ready", "Ingresses");
    await until(() => replica.metrics.watchErrors.with({ kind: "namespace" }).value > 1, "two failures");
    expect(replica.checks()?.["routing_table_built"]).to.equal("Pending");
    expect(replica.isReady()).to.equal(false);
    expect(replica.metrics.routingTableRebuilds.with({ result: "ok" }).value).to.equal(0);
    expect(addressOf(cluster, "a")).to.equal(undefined);
    isForbidden = false;
    await until(() => replica.isReady() && addressOf(cluster, "a") !== undefined, "readiness and status");
    expect(replica.metrics.routingTableHosts.with({}).value).to.equal(1);
  });

  it("a replica waits for an API server that does not answer when it starts", async () => {
    const cluster = await useCluster();
    cluster.intercept = () => ({ status: 503, body: {} });
    const replica = await startReplica("ctl-0");
    await until(() => cluster.requests.length > 4, "some attempts");
    expect(replica.isReady()).to.equal(false);
    cluster.intercept = () => undefined;
    await until(() => replica.isReady(), "readiness");
  });

  it("one replica writes, and the other takes over at once when the first is stopped", async () => {
    const cluster = await useCluster();
    cluster.put(ingressClasses, svcClass);
    const flags = { "status-address": "lb.example" };
    const first = await startReplica("ctl-0", flags);
    await until(() => first.isLeading() && first.isReady(), "the first leader");
    const second = await startReplica("ctl-1", flags);
    await until(() => second.isReady(), "a ready standby");
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    await until(() => addressOf(cluster, "a") !== undefined, "a status");
    expect(second.metrics.statusPatches.with({ kind: "ingress", result: "ok" }).value).to.equal(0);
    await until(() => second.metrics.routingTableHosts.with({}).value === 1, "the standby's build");
    const stopped = first.stop();
    cluster.put(ingresses, ingressManifest("b", "b.example"));
    await stopped;
    await until(() => addressOf(cluster, "b") !== undefined, "a status from the other");
    await until(() => holderOf(cluster) === "ctl-1" && second.isLeading(), "the second leader");
  });

  it("a stopped replica clears the holder of the lease", async () => {
    const cluster = await useCluster();
    const replica = await startReplica("ctl-0");
    await until(() => replica.isLeading(), "leadership");
    expect(holderOf(cluster)).to.equal("ctl-0");
    await replica.stop();
    expect(holderOf(cluster)).to.equal("");
    expect(replica.isReady(), "not ready while it goes down").to.equal(false);
  });

  it("a replica that loses the lease stops writing and stays as a standby", async () => {
    const cluster = await useCluster();
    cluster.put(ingressClasses, svcClass);
    const replica = await startReplica("ctl-0", { "status-address": "lb.example" });
    await until(() => replica.isLeading() && replica.isReady(), "leadership");
    const lease = cluster.get(leases, lockName) as Stored & { spec: object };
    cluster.put(leases, { ...lease, spec: { ...lease.spec, holderIdentity: "thief" } });
    await until(() => !replica.isLeading(), "the loss");
    cluster.put(ingresses, ingressManifest("a", "a.example"));
    await until(() => replica.metrics.routingTableHosts.with({}).value === 1, "a build");
    expect(addressOf(cluster, "a")).to.equal(undefined);
    const stolen = cluster.get(leases, lockName) as Stored & { spec: object };
    cluster.put(leases, { ...stolen, spec: { ...stolen.spec, holderIdentity: "" } });
    await until(() => addressOf(cluster, "a") !== undefined, "a status, once the thief has gone");
    expect(replica.isLeading()).to.equal(true);
  });
});
