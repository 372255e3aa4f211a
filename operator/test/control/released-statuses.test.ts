import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import type { KindName } from "../../src/api/kinds.ts";
import type { FakeCluster } from "../sources/kubernetes/fake-cluster.ts";
import { createReplicaRig } from "./replica-rig.ts";
import { pathOf, put, putClass } from "./stored-objects.ts";

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
};

type Ancestor = { readonly ancestorRef: { readonly name: string } };

/** The names of the ancestors in a status; undefined before it is written. */
const ancestorsOf = (cluster: FakeCluster, kind: KindName, name: string): readonly string[] | undefined =>
  (
    cluster.get(pathOf(kind), `ns/${name}`)?.status as
      { readonly ancestors?: readonly Ancestor[] } | undefined
  )?.ancestors?.map(({ ancestorRef }) => ancestorRef.name);

const gatewaySpec = {
  gatewayClassName: "svc",
  allowedListeners: { namespaces: { from: "Same" } },
  listeners: [{ name: "http", port: 80, protocol: "HTTP" }],
};

describe("statuses of objects that are no longer attached", () => {
  const { useCluster, startReplica } = createReplicaRig();

  const start = async (): Promise<FakeCluster> => {
    const cluster = await useCluster();
    putClass(cluster);
    put(cluster, "Gateway", "edge", gatewaySpec);
    put(cluster, "Service", "web", { ports: [{ name: "https", port: 443 }] });
    return cluster;
  };

  it("the last ancestor of a BackendTLSPolicy is removed with the route, although the list is required", async () => {
    const cluster = await start();
    put(cluster, "HTTPRoute", "web", {
      parentRefs: [{ name: "edge" }],
      rules: [{ backendRefs: [{ name: "web", port: 443 }] }],
    });
    put(cluster, "BackendTLSPolicy", "web", {
      targetRefs: [{ group: "", kind: "Service", name: "web" }],
      validation: { hostname: "web.test", wellKnownCACertificates: "System" },
    });
    await startReplica("ctl-0");
    const ancestors = (): readonly string[] | undefined => ancestorsOf(cluster, "BackendTLSPolicy", "web");
    await until(() => ancestors()?.length === 1, "the ancestor");
    cluster.remove(pathOf("HTTPRoute"), "ns/web");
    await until(() => ancestors()?.length === 0, "the empty list");
  });

  it("a SvcExternalAuth without targetRefs keeps no ancestor that says that its service authorizes requests", async () => {
    const cluster = await start();
    const spec = { protocol: "HTTP", backendRef: { name: "web", port: 443 } };
    put(cluster, "SvcExternalAuth", "gate", {
      ...spec,
      targetRefs: [{ name: "edge" }],
    });
    await startReplica("ctl-0");
    const ancestors = (): readonly string[] | undefined => ancestorsOf(cluster, "SvcExternalAuth", "gate");
    await until(() => ancestors()?.join() === "edge", "the ancestor");
    put(cluster, "SvcExternalAuth", "gate", spec);
    await until(() => ancestors()?.length === 0, "the empty list");
    expect(cluster.get(pathOf("SvcExternalAuth"), "ns/gate")?.status).to.have.nested.property(
      "controllers[0].usedBy.count",
      0,
    );
  });

  const setSpec = (gateway: string): object => ({
    parentRef: { name: gateway },
    listeners: [{ name: "more", port: 8080, protocol: "HTTP" }],
  });

  /** A served ListenerSet, and the replica that wrote its status. */
  const startWithSet = async () => {
    const cluster = await start();
    put(cluster, "ListenerSet", "more", setSpec("edge"));
    const replica = await startReplica("ctl-0");
    await until(() => setStatus(cluster).accepted === "True Accepted@1", "the accepted set");
    return { cluster, replica };
  };

  const setStatus = (cluster: FakeCluster) => {
    const { conditions = [], listeners = [] } = (cluster.get(pathOf("ListenerSet"), "ns/more")?.status ??
      {}) as {
      readonly conditions?: readonly Condition[];
      readonly listeners?: readonly object[];
    };
    const brief = (wanted: string): string | undefined => {
      const found = conditions.find(({ type }) => type === wanted);
      return found && `${found.status} ${found.reason}@${found.observedGeneration}`;
    };
    return {
      accepted: brief("Accepted"),
      programmed: brief("Programmed"),
      message: conditions[0]?.message,
      listeners: listeners.length,
    };
  };

  const withoutGateway = {
    accepted: "False ParentNotAccepted@1",
    programmed: "False ParentNotAccepted@1",
    message: "Gateway ns/edge of spec.parentRef does not exist; the listeners are not served",
    listeners: 0,
  };

  it("a ListenerSet is refused when its Gateway is deleted, and accepted when the Gateway is back", async () => {
    const { cluster } = await startWithSet();
    cluster.remove(pathOf("Gateway"), "ns/edge");
    await until(() => setStatus(cluster).accepted?.startsWith("False") === true, "the refusal");
    expect(setStatus(cluster)).to.deep.equal(withoutGateway);
    put(cluster, "Gateway", "edge", gatewaySpec);
    await until(() => setStatus(cluster).accepted === "True Accepted@1", "the accepted set");
    expect(setStatus(cluster).listeners).to.equal(1);
  });

  it("a ListenerSet is refused when its Gateway was deleted while no controller ran", async () => {
    const { cluster, replica } = await startWithSet();
    await replica.stop();
    cluster.remove(pathOf("Gateway"), "ns/edge");
    await startReplica("ctl-0");
    await until(() => setStatus(cluster).accepted?.startsWith("False") === true, "the refusal");
    expect(setStatus(cluster)).to.deep.equal(withoutGateway);
  });
});
