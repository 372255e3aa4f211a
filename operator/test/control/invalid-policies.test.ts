import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import { definitionOf } from "../../src/api/kinds.ts";
import { standInKinds, type StandInKind } from "../../src/api/stand-in.ts";
import type { FakeCluster } from "../sources/kubernetes/fake-cluster.ts";
import { invalidPolicies as invalid } from "../support/invalid-policies.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";
import {
  createReplicaRig,
  eventsOf,
  ingressClasses,
  ingresses,
  proxyService,
  services,
} from "./replica-rig.ts";

const api = "gateway.networking.k8s.io";
const group = "gateway.svc-labs.dev";

const pathOf = (kind: Parameters<typeof definitionOf>[0]): string => {
  const { group: of, versions, plural } = definitionOf(kind);
  return `/apis/${of}/${versions[0]}/${plural}`;
};

const manifest = (kind: Parameters<typeof definitionOf>[0], name: string, spec: object): object => {
  const { group: of, versions } = definitionOf(kind);
  return {
    apiVersion: `${of}/${versions[0]}`,
    kind,
    metadata: { name, namespace: "ns", uid: `uid-${kind}-${name}`, generation: 2 },
    spec,
  };
};

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly message: string;
  readonly observedGeneration?: number;
};
type Entry = { readonly conditions: readonly Condition[] };
type Status = {
  readonly controllers?: readonly Entry[];
  readonly ancestors?: readonly Entry[];
  readonly parents?: readonly Entry[];
};

const statusOf = (cluster: FakeCluster, path: string, name: string): Status =>
  (cluster.get(path, `ns/${name}`)?.status ?? {}) as Status;

const conditionOf = (entry: Entry | undefined, type: string): string | undefined => {
  const found = entry?.conditions.find((one) => one.type === type);
  return found && `${found.status}: ${found.message}`;
};

const gateway = (name: string): object =>
  manifest("Gateway", name, {
    gatewayClassName: "svc",
    listeners: [{ name: "http", port: 80, protocol: "HTTP", hostname: `${name}.example` }],
  });

describe("policies that the API server has and that are not valid", () => {
  const { useCluster, startReplica } = createReplicaRig();

  const startWith = async (kinds: readonly StandInKind[]): Promise<FakeCluster> => {
    const cluster = await useCluster();
    cluster.put(ingressClasses, svcClass);
    cluster.put(services, proxyService("192.0.2.1"));
    for (const name of ["web", "tls"]) {
      cluster.put(services, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace: "ns", uid: `uid-${name}` },
        spec: { ports: [{ port: 80 }] },
      });
    }
    cluster.put(`/apis/${api}/v1/gatewayclasses`, {
      apiVersion: `${api}/v1`,
      kind: "GatewayClass",
      metadata: { name: "svc", uid: "uid-class" },
      spec: { controllerName: "svc-labs.dev/gateway-controller" },
    });
    for (const name of ["gw", "traffic", "guarded"]) cluster.put(pathOf("Gateway"), gateway(name));
    for (const kind of kinds) cluster.put(pathOf(kind), manifest(kind, "p", invalid[kind][0]));
    return cluster;
  };

  const said = (kind: StandInKind): string => `${invalid[kind][1]}; ${invalid[kind][2]}`;

  it("the status of an invalid policy of each kind, and an Event about it, say what is wrong and what happens", async () => {
    const cluster = await startWith(standInKinds);
    cluster.put(
      pathOf("HTTPRoute"),
      manifest("HTTPRoute", "tls", {
        parentRefs: [{ name: "gw" }],
        rules: [{ backendRefs: [{ name: "tls", port: 80 }] }],
      }),
    );
    await startReplica("ctl-0");
    for (const kind of standInKinds) {
      const acceptedOf = (): string | undefined => {
        const { controllers, ancestors } = statusOf(cluster, pathOf(kind), "p");
        return conditionOf((controllers ?? ancestors)?.[0], "Accepted");
      };
      await until(() => acceptedOf() !== undefined, `the status of the ${kind}`);
      expect(acceptedOf(), kind).to.equal(`False: ${said(kind)}`);
      await until(
        () => eventsOf(cluster).includes(`InvalidObject: ${said(kind)}`),
        `the Event about the ${kind}`,
      );
    }
    const { ancestors = [] } = statusOf(cluster, pathOf("SvcExternalAuth"), "p");
    expect(ancestors.map((one) => conditionOf(one, "Accepted"))).to.deep.equal([
      `False: ${said("SvcExternalAuth")}`,
    ]);
  });

  it("a route and an Ingress that name an invalid policy say that it is not valid, and why", async () => {
    const cluster = await startWith(["RateLimit", "JwtAuth"]);
    cluster.put(
      ingresses,
      ingressManifest("limited", "limited.example", ["/"], {
        "ingress.svc-labs.dev/rate-limit": "ns/p",
        "ingress.svc-labs.dev/auth-jwt": "ns/p",
      }),
    );
    const filters = [{ type: "ExtensionRef", extensionRef: { group, kind: "RateLimit", name: "p" } }];
    cluster.put(
      pathOf("HTTPRoute"),
      manifest("HTTPRoute", "limited", {
        parentRefs: [{ name: "gw" }],
        rules: [{ filters, backendRefs: [{ name: "web", port: 80 }] }],
      }),
    );
    await startReplica("ctl-0");
    const resolved = (): string | undefined =>
      conditionOf(statusOf(cluster, pathOf("HTTPRoute"), "limited").parents?.[0], "ResolvedRefs");
    await until(() => resolved() !== undefined, "the status of the route");
    expect(resolved()).to.match(/^False: .*RateLimit ns\/p is not valid: spec\.requestsPerSecond: must be/);
    const hasEvent = (pattern: RegExp): boolean => eventsOf(cluster).some((event) => pattern.test(event));
    await until(
      () =>
        hasEvent(/^InvalidAnnotation: .*RateLimit ns\/p is not valid: .*the rate of requests is not limited/),
      "the Event about the rate limit",
    );
    await until(
      () => hasEvent(/^InvalidAnnotation: .*JwtAuth ns\/p is not valid: .*every request is answered 503/),
      "the Event about the JwtAuth",
    );
  });

  it("the statuses of objects that an invalid policy closes are still written", async () => {
    const cluster = await startWith(["SvcExternalAuth"]);
    await startReplica("ctl-0");
    const acceptedOf = (): string | undefined => {
      const { conditions = [] } = statusOf(cluster, pathOf("Gateway"), "guarded") as Partial<Entry>;
      return conditionOf({ conditions }, "Accepted");
    };
    await until(() => acceptedOf() !== undefined, "the status of the closed Gateway");
    expect(acceptedOf()).to.match(/^True/);
    await until(
      () => eventsOf(cluster).some((event) => event.startsWith("NotServed: SvcExternalAuth ns/p")),
      "the Event about the closed Gateway",
    );
  });

  it("the status says that the last valid version is used while the newest one is not valid, and no longer", async () => {
    const cluster = await startWith([]);
    const put = (requestsPerSecond: unknown, generation: number): void =>
      void cluster.put(pathOf("RateLimit"), {
        ...manifest("RateLimit", "p", { requestsPerSecond }),
        metadata: { name: "p", namespace: "ns", uid: "uid-p", generation },
        status: cluster.get(pathOf("RateLimit"), "ns/p")?.status,
      });
    const accepted = (): Condition | undefined =>
      statusOf(cluster, pathOf("RateLimit"), "p").controllers?.[0]?.conditions[0];
    put(5, 1);
    await startReplica("ctl-0");
    await until(() => accepted()?.status === "True", "a valid status");
    put("many", 2);
    await until(() => accepted()?.status === "False", "the status of the invalid version");
    expect(accepted()).to.include({
      observedGeneration: 2,
      message: `${invalid.RateLimit[1]}; its last valid version is used`,
    });
    put(7, 3);
    await until(() => accepted()?.status === "True", "the status of the valid version");
    expect(accepted()?.observedGeneration).to.equal(3);
  });
});
