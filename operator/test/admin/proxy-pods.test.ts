import operatorModule, { type ResourceEvent } from "@dot-i/k8s-operator";
import { expect } from "chai";
import { createProxyPods } from "../../src/admin/proxy-pods.ts";

const { ResourceEventType } = operatorModule;

const labels = { "app.kubernetes.io/name": "svc", "app.kubernetes.io/component": "shared-proxy" };

const event = (object: object, type = ResourceEventType.Added): ResourceEvent =>
  ({ type, meta: {}, object: { apiVersion: "v1", kind: "Pod", ...object } }) as unknown as ResourceEvent;

const pod = (name: string, own: Readonly<Record<string, string>> = labels): object => ({
  metadata: { name, namespace: "svc-system", labels: own, creationTimestamp: "2026-01-01T00:00:00Z" },
});

describe("createProxyPods", () => {
  it("a running proxy pod is listed with its address, admin port, node, phase and restarts", async () => {
    const pods = createProxyPods();
    await pods.onEvent(
      event({
        ...pod("proxy-0"),
        spec: {
          nodeName: "node-1",
          containers: [
            {
              ports: [
                { name: "http", containerPort: 80 },
                { name: "admin", containerPort: 9000 },
              ],
            },
            {},
          ],
        },
        status: {
          phase: "Running",
          podIP: "10.0.0.7",
          containerStatuses: [{ restartCount: 2 }, { restartCount: 1 }, {}],
        },
      }),
    );
    expect(pods.list()).to.deep.equal([
      {
        name: "proxy-0",
        namespace: "svc-system",
        ip: "10.0.0.7",
        adminPort: 9000,
        component: "shared-proxy",
        gatewayRef: null,
        node: "node-1",
        phase: "Running",
        restarts: 3,
        createdAt: "2026-01-01T00:00:00Z",
      },
    ]);
  });

  it("a proxy pod that was just created is listed with default values", async () => {
    const pods = createProxyPods();
    await pods.onEvent(event(pod("proxy-0")));
    expect(pods.list()[0]).to.include({
      ip: null,
      adminPort: 8082,
      node: null,
      phase: "Unknown",
      restarts: 0,
    });
  });

  it("a proxy pod that is being deleted is listed as terminating", async () => {
    const pods = createProxyPods();
    const metadata = { name: "proxy-0", namespace: "svc-system", labels };
    const deleted = { ...metadata, deletionTimestamp: "2026-01-02T00:00:00Z" };
    await pods.onEvent(event({ metadata: deleted, status: { phase: "Running" } }));
    expect(pods.list().map(({ phase }) => phase)).to.deep.equal(["Terminating"]);
  });

  it("a dedicated proxy pod is listed with its Gateway", async () => {
    const pods = createProxyPods();
    await pods.onEvent(
      event(
        pod("edge-svc-0", {
          ...labels,
          "app.kubernetes.io/component": "dedicated-proxy",
          "gateway.networking.k8s.io/gateway-name": "edge",
          "gateway.svc-labs.dev/gateway-namespace": "shop",
        }),
      ),
    );
    expect(pods.list()[0]).to.include({ component: "dedicated-proxy", gatewayRef: "shop/edge" });
  });

  it("the full name of a Gateway is shown when it is longer than a label value", async () => {
    const pods = createProxyPods();
    const own = {
      ...labels,
      "app.kubernetes.io/component": "dedicated-proxy",
      "gateway.networking.k8s.io/gateway-name": `${"a".repeat(54)}-01234567`,
      "gateway.svc-labs.dev/gateway-namespace": "shop",
    };
    const name = "a".repeat(100);
    const proxy = {
      args: ["serve", "proxy", "--dedicated", `--gateway-name=${name}`, "--gateway-namespace=shop"],
    };
    await pods.onEvent(event({ ...pod("edge-svc-0", own), spec: { containers: [{}, proxy] } }));
    expect(pods.list()[0]?.gatewayRef).to.equal(`shop/${name}`);
  });

  it("the list of proxy pods is sorted by name and drops deleted pods and pods that are no longer proxies", async () => {
    const pods = createProxyPods();
    await pods.onEvent(event(pod("b")));
    await pods.onEvent(event(pod("a")));
    await pods.onEvent(event(pod("controller", { ...labels, "app.kubernetes.io/component": "controller" })));
    await pods.onEvent(event(pod("foreign", {})));
    expect(pods.list().map(({ name }) => name)).to.deep.equal(["a", "b"]);
    await pods.onEvent(event(pod("a"), ResourceEventType.Deleted));
    await pods.onEvent(event(pod("b", {}), ResourceEventType.Modified));
    expect(pods.list()).to.deep.equal([]);
  });
});
