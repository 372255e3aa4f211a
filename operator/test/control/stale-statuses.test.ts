import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import { definitionOf, type KindName } from "../../src/api/kinds.ts";
import type { FakeCluster } from "../sources/kubernetes/fake-cluster.ts";
import { createReplicaRig } from "./replica-rig.ts";
import { controllerName, pathOf, put, putClass } from "./stored-objects.ts";

const conditions = [
  {
    ...{ type: "Accepted", status: "True", reason: "Accepted", message: "from before" },
    ...{ observedGeneration: 1, lastTransitionTime: "2024-05-01T10:00:00Z" },
  },
];
const another = "example.com/other";
const routeKinds = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"] as const;

/** The entry of a controller for a Gateway or ListenerSet of a route. */
const parent = (name: string, controller = controllerName, kind = "Gateway") => ({
  parentRef: { kind, name },
  controllerName: controller,
  conditions,
});

/** The entry of a controller for a target of a policy. */
const ancestor = (kind: "Gateway" | "Service", name: string, controller = controllerName) => ({
  ancestorRef: {
    ...{ group: kind === "Service" ? "" : "gateway.networking.k8s.io", kind },
    ...{ namespace: "ns", name },
  },
  controllerName: controller,
  conditions,
});

const statusOf = (cluster: FakeCluster, kind: KindName, name: string): unknown =>
  cluster.get(pathOf(kind), `ns/${name}`)?.status;

const hasStatus = (cluster: FakeCluster, kind: KindName, name: string, status: object): boolean =>
  JSON.stringify(statusOf(cluster, kind, name)) === JSON.stringify(status);

const gatewaySpec = (gatewayClassName: string) => ({
  gatewayClassName,
  listeners: [{ name: "http", port: 80, protocol: "HTTP" }],
});

const rulesOf = (kind: KindName): object =>
  kind === "HTTPRoute" || kind === "GRPCRoute"
    ? {}
    : {
        ...(kind === "TLSRoute" && { hostnames: ["a.example"] }),
        rules: [{ backendRefs: [{ name: "web", port: 443 }] }],
      };

/** Policies without a target of this controller, and the entry that they have from before. */
const policies: readonly {
  readonly kind: KindName;
  readonly name: string;
  readonly spec: object;
  readonly ours: object;
}[] = [
  {
    kind: "BackendTLSPolicy",
    name: "without-route",
    spec: {
      targetRefs: [{ group: "", kind: "Service", name: "web" }],
      validation: { hostname: "web.test", wellKnownCACertificates: "System" },
    },
    ours: ancestor("Gateway", "edge"),
  },
  {
    kind: "BackendTLSPolicy",
    name: "unreadable",
    spec: { targetRefs: [{}] },
    ours: ancestor("Gateway", "edge"),
  },
  {
    kind: "ClientTrafficPolicy",
    name: "foreign",
    spec: { targetRefs: [{ name: "theirs" }] },
    ours: ancestor("Gateway", "theirs"),
  },
  {
    kind: "ClientTrafficPolicy",
    name: "invalid-foreign",
    spec: { targetRefs: [{ name: "theirs" }], maxConnections: "few" },
    ours: ancestor("Gateway", "theirs"),
  },
  {
    kind: "ClientTrafficPolicy",
    name: "unreadable",
    spec: { targetRefs: [{}] },
    ours: ancestor("Gateway", "edge"),
  },
  {
    kind: "SvcBackendPolicy",
    name: "unreadable",
    spec: { targetRefs: [{}] },
    ours: ancestor("Service", "web"),
  },
  {
    kind: "SvcExternalAuth",
    name: "without-target",
    spec: { protocol: "HTTP", backendRef: { name: "auth", port: 80 } },
    ours: ancestor("Gateway", "edge"),
  },
  {
    kind: "SvcExternalAuth",
    name: "unreadable",
    spec: { targetRefs: [{}] },
    ours: ancestor("Gateway", "edge"),
  },
];

describe("status entries from before the controller started", () => {
  const { useCluster, startReplica } = createReplicaRig();

  /** A cluster with the Gateway `theirs` of another controller, and without any of this one. */
  const start = async (): Promise<FakeCluster> => {
    const cluster = await useCluster();
    putClass(cluster);
    put(cluster, "Gateway", "theirs", gatewaySpec("another"));
    put(cluster, "Service", "web", { ports: [{ name: "https", port: 443 }] });
    return cluster;
  };

  /** The names of the objects of a kind whose statuses were written, sorted, with repetitions. */
  const writesTo = (cluster: FakeCluster, kind: KindName): readonly string[] =>
    cluster.requests
      .flatMap((request) => request.match(`^PATCH .*/${definitionOf(kind).plural}/([^/]+)/status`)?.[1] ?? [])
      .toSorted();

  it("the entries of routes are removed if their parents were deleted or left while no controller ran", async () => {
    const cluster = await start();
    const theirs = parent("theirs", another);
    for (const kind of routeKinds) {
      const rules = rulesOf(kind);
      const toDeleted = { parentRefs: [{ name: "gone" }, { kind: "ListenerSet", name: "gone" }], ...rules };
      const stale = [parent("gone"), theirs, parent("gone", controllerName, "ListenerSet")];
      put(cluster, kind, "deleted", toDeleted, { parents: stale });
      const toTheirs = { parentRefs: [{ name: "theirs" }], ...rules };
      put(cluster, kind, "moved", toTheirs, { parents: [theirs, parent("edge")] });
      put(cluster, kind, "foreign", toTheirs, { parents: [theirs] });
      put(cluster, kind, "detached", rules, { parents: [parent("edge")] });
    }
    await startReplica("ctl-0");
    for (const kind of routeKinds) {
      for (const name of ["deleted", "moved"]) {
        await until(() => hasStatus(cluster, kind, name, { parents: [theirs] }), `${kind} ${name}`);
      }
      await until(() => hasStatus(cluster, kind, "detached", { parents: [] }), `${kind} without parents`);
      expect(writesTo(cluster, kind)).to.deep.equal(["deleted", "detached", "moved"]);
    }
  });

  it("the ancestors of policies are removed if their last target vanished while no controller ran", async () => {
    const cluster = await start();
    const theirs = ancestor("Gateway", "theirs", another);
    for (const { kind, name, spec, ours } of policies) {
      put(cluster, kind, name, spec, { ancestors: [ours, theirs] });
      put(cluster, kind, `${name}-only`, spec, { ancestors: [ours] });
    }
    await startReplica("ctl-0");
    for (const { kind, name } of policies) {
      const ancestorsOf = (policy: string): string =>
        JSON.stringify((statusOf(cluster, kind, policy) as { readonly ancestors: unknown }).ancestors);
      await until(() => ancestorsOf(name) === JSON.stringify([theirs]), `${kind} ${name}`);
      await until(() => ancestorsOf(`${name}-only`) === "[]", `the last entry of ${kind} ${name}`);
    }
  });

  it("no entry is removed before every kind has been listed", async () => {
    const cluster = await start();
    put(cluster, "Gateway", "edge", gatewaySpec("svc"));
    put(cluster, "HTTPRoute", "web", { parentRefs: [{ name: "edge" }] }, { parents: [parent("edge")] });
    let failures = 0;
    cluster.intercept = (_request, url) =>
      url.pathname === pathOf("Gateway") && failures < 2
        ? { status: 503, body: { code: 503, reason: "try again", attempt: ++failures } }
        : undefined;
    await startReplica("ctl-0");
    const text = (): string => JSON.stringify(statusOf(cluster, "HTTPRoute", "web"));
    await until(() => text().includes("The route is accepted"), "the status of the first build");
    expect(failures).to.equal(2);
    expect(writesTo(cluster, "HTTPRoute"), "a removed entry would be a second write").to.deep.equal(["web"]);
  });

  it("the entries of routes in namespaces that are not served stay", async () => {
    const cluster = await start();
    const stale = { parents: [parent("gone")] };
    put(cluster, "HTTPRoute", "old", { parentRefs: [{ name: "gone" }] }, stale);
    cluster.put(pathOf("HTTPRoute"), {
      ...cluster.get(pathOf("HTTPRoute"), "ns/old"),
      metadata: { name: "old", namespace: "elsewhere", generation: 1 },
    });
    await startReplica("ctl-0", { "watch-namespace": "ns" });
    await until(() => hasStatus(cluster, "HTTPRoute", "old", { parents: [] }), "the served namespace");
    expect(cluster.get(pathOf("HTTPRoute"), "elsewhere/old")?.status).to.deep.equal(stale);
    expect(writesTo(cluster, "HTTPRoute")).to.deep.equal(["old"]);
  });
});
