import operatorModule, { type ResourceEvent } from "@dot-i/k8s-operator";
import { expect } from "chai";
import { createGatewayPods } from "../../src/admin/gateway-pods.ts";

const { ResourceEventType } = operatorModule;

const event = (object: object, type = ResourceEventType.Added): ResourceEvent =>
  ({ type, meta: {}, object: { apiVersion: "v1", kind: "Pod", ...object } }) as unknown as ResourceEvent;

type Options = {
  readonly namespace?: string;
  readonly phase?: string;
  readonly ips?: readonly string[];
  readonly hostNetwork?: boolean;
  readonly ports?: readonly object[];
};

const pod = (name: string, component: string, options: Options = {}): object => ({
  metadata: {
    name,
    namespace: options.namespace ?? "svc-system",
    labels: { "app.kubernetes.io/name": "svc", "app.kubernetes.io/component": component },
  },
  spec: { hostNetwork: options.hostNetwork, containers: [{ ports: options.ports }, {}] },
  status: {
    phase: options.phase ?? "Running",
    podIP: options.ips?.[0],
    podIPs: options.ips?.map((ip) => ({ ip })),
  },
});

const start = () => createGatewayPods({ installNamespace: "svc-system", ports: [8081, 8082] });

describe("createGatewayPods", () => {
  it("the gateway pods include all addresses of controllers, shared and dedicated proxies, with their declared ports", async () => {
    const pods = start();
    const ports = [
      { name: "http", containerPort: 80 },
      { name: "discovery", containerPort: 50051 },
      { name: "admin", containerPort: 9000 },
    ];
    await pods.onEvent(event(pod("c-0", "controller", { ips: ["10.0.0.9", "FD00::0:9"], ports })));
    await pods.onEvent(event(pod("p-0", "shared-proxy", { ips: ["10.0.0.2"] })));
    await pods.onEvent(event(pod("d-0", "dedicated-proxy", { ips: ["10.0.0.3"], namespace: "shop" })));
    expect(pods.current()?.addresses).to.deep.equal([
      { host: "10.0.0.2", ports: [8081, 8082] },
      { host: "10.0.0.3", ports: [8081, 8082] },
      { host: "10.0.0.9", ports: [8081, 8082, 9000, 50051] },
      { host: "fd00::9", ports: [8081, 8082, 9000, 50051] },
    ]);
  });

  it("pods that have ended or were deleted are not among the gateway pods, since others may have their addresses", async () => {
    const pods = start();
    await pods.onEvent(event(pod("p-0", "shared-proxy", { ips: ["10.0.0.2"] })));
    await pods.onEvent(event(pod("p-1", "shared-proxy", { ips: ["10.0.0.3"] })));
    await pods.onEvent(event(pod("p-0", "shared-proxy", { ips: ["10.0.0.2"], phase: "Failed" })));
    expect(pods.current()?.addresses.map(({ host }) => host)).to.deep.equal(["10.0.0.3"]);
    await pods.onEvent(event(pod("p-1", "shared-proxy"), ResourceEventType.Deleted));
    expect(pods.current()?.addresses).to.deep.equal([]);
  });

  it("a label does not make another tenant's pod a gateway pod, so no ports are taken away from it", async () => {
    const pods = start();
    await pods.onEvent(event(pod("fake", "controller", { namespace: "shop", ips: ["10.0.0.4"] })));
    const onNode = { namespace: "shop", ips: ["192.0.2.1"], hostNetwork: true };
    await pods.onEvent(event(pod("fake", "dedicated-proxy", onNode)));
    await pods.onEvent(event(pod("other", "echo", { ips: ["10.0.0.5"] })));
    expect(pods.current()?.addresses).to.deep.equal([]);
  });

  it("a gateway pod on the network of its node is marked as sharing its address", async () => {
    const pods = start();
    await pods.onEvent(event(pod("p-0", "shared-proxy", { ips: ["192.0.2.1"], hostNetwork: true })));
    expect(pods.current()?.addresses).to.deep.equal([
      { host: "192.0.2.1", ports: [8081, 8082], shared: true },
    ]);
  });

  it("the gateway pods are unknown until every watch has listed, and subscribers are notified then and of each change", async () => {
    const pods = start();
    const listed = [pods.listing(), pods.listing()];
    let calls = 0;
    const end = pods.subscribe(() => calls++);
    await pods.onEvent(event(pod("p-0", "shared-proxy", { ips: ["10.0.0.2"] })));
    listed[0]?.();
    expect(pods.current()).to.equal(undefined);
    expect(calls).to.equal(0);
    listed[1]?.();
    listed[1]?.();
    expect(calls).to.equal(1);
    const known = pods.current();
    await pods.onEvent(event(pod("p-0", "shared-proxy", { ips: ["10.0.0.2"] }), ResourceEventType.Modified));
    await pods.onEvent(event(pod("p-9", "shared-proxy")));
    expect(pods.current()).to.equal(known);
    expect(calls).to.equal(1);
    await pods.onEvent(event(pod("p-1", "shared-proxy", { ips: ["10.0.0.1"] })));
    expect(calls).to.equal(2);
    end();
    await pods.onEvent(event(pod("p-2", "shared-proxy", { ips: ["10.0.0.8"] })));
    expect(calls).to.equal(2);
  });
});
