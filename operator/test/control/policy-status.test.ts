import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import type { FakeCluster } from "../sources/kubernetes/fake-cluster.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";
import { createReplicaRig, ingressClasses, ingresses } from "./replica-rig.ts";

const rateLimits = "/apis/gateway.svc-labs.dev/v1alpha1/ratelimits";

type Status = {
  readonly controllers?: readonly {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly usedBy: { readonly count: number; readonly summary: string };
  }[];
};

const entryOf = (cluster: FakeCluster) =>
  (cluster.get(rateLimits, "ns/slow")?.status as Status | undefined)?.controllers?.[0];

const user = (name: string): object =>
  ingressManifest(name, `${name}.example`, ["/"], { "ingress.svc-labs.dev/rate-limit": "ns/slow" });

const patches = (cluster: FakeCluster): readonly string[] =>
  cluster.requests.filter((request) => request.startsWith("PATCH") && request.includes("/ratelimits/"));

describe("statuses of policies", () => {
  const { useCluster, startReplica } = createReplicaRig();

  it("the leader writes who uses a policy, and nothing while that stays the same", async () => {
    const cluster = await useCluster();
    cluster.put(ingressClasses, svcClass);
    cluster.put(ingresses, user("a"));
    cluster.put(rateLimits, {
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "RateLimit",
      metadata: { name: "slow", namespace: "ns" },
      spec: { requestsPerSecond: 1 },
    });
    await startReplica("ctl-0");
    await until(() => entryOf(cluster) !== undefined, "the status");
    expect(entryOf(cluster)?.usedBy).to.include({ count: 1, summary: "Ingress a" });
    expect(entryOf(cluster)?.conditions.map(({ type, status }) => `${type}=${status}`)).to.deep.equal([
      "Accepted=True",
    ]);
    expect(patches(cluster)).to.have.length(1);

    // The host of a user does not change who it is; the new user comes after it and is seen after it.
    cluster.put(ingresses, ingressManifest("other", "other.example"));
    cluster.put(ingresses, user("b"));
    await until(() => entryOf(cluster)?.usedBy.count === 2, "the second user");
    expect(patches(cluster)).to.have.length(2);
  });
});
