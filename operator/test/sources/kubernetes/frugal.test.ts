import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { frugal } from "../../../src/sources/kubernetes/frugal.ts";

const metadata = {
  name: "a",
  namespace: "ns",
  uid: "u",
  resourceVersion: "7",
  generation: 2,
  labels: { app: "a" },
  managedFields: [{ manager: "kubectl" }],
  annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{...}", team: "x" },
};

const kept = (object: object): unknown => frugal(object as KubeObject);

describe("frugal", () => {
  it("drops versions, managed fields, the last applied configuration and statuses", () => {
    expect(
      kept({ apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata, spec: {}, status: {} }),
    ).to.deep.equal({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        name: "a",
        namespace: "ns",
        uid: "u",
        generation: 2,
        labels: { app: "a" },
        annotations: { team: "x" },
      },
      spec: {},
    });
  });

  it("keeps the status of a Service, which says where it is reached", () => {
    const status = { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } };
    expect(kept({ apiVersion: "v1", kind: "Service", metadata, status })).to.have.property("status", status);
  });

  it("keeps the CA bundle of a ConfigMap and nothing that others use it for", () => {
    const configMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data: { "ca.crt": "PEM", other: "x".repeat(1000) },
      binaryData: { blob: "AAAA" },
      immutable: true,
    };
    expect(kept(configMap)).to.deep.equal({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "ns", uid: "u", generation: 2, labels: { app: "a" } },
      data: { "ca.crt": "PEM" },
    });
    expect(kept({ ...configMap, data: { other: "x" } })).not.to.have.property("data");
  });
});
