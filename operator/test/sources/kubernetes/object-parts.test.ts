import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { declaredPart, heldPart } from "../../../src/sources/kubernetes/object-parts.ts";

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
const { managedFields: _managed, annotations: _annotations, ...plain } = metadata;

const held = (object: object): unknown => heldPart(object as KubeObject);
const declared = (object: object): unknown => declaredPart(object as KubeObject);

describe("heldPart", () => {
  it("managed fields and the last applied configuration are dropped", () => {
    const object = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", spec: {}, status: {} };
    expect(held({ ...object, metadata })).to.deep.equal({
      ...object,
      metadata: { ...plain, annotations: { team: "x" } },
    });
  });

  it("only the CA bundle of a ConfigMap is kept", () => {
    const configMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data: { "ca.crt": "PEM", other: "x".repeat(1000) },
      binaryData: { blob: "AAAA" },
      immutable: true,
    };
    expect(held(configMap)).to.deep.equal({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: plain,
      data: { "ca.crt": "PEM" },
    });
    expect(held({ ...configMap, data: { other: "x" } })).not.to.have.property("data");
  });
});

describe("declaredPart", () => {
  const { resourceVersion: _, ...withoutVersion } = plain;

  it("the declared part has neither version nor status", () => {
    const object = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", spec: {} };
    expect(declared({ ...object, metadata: plain, status: { loadBalancer: {} } })).to.deep.equal({
      ...object,
      metadata: withoutVersion,
    });
  });

  it("the declared part of a Service has its status, which says where it is reached", () => {
    const object = {
      apiVersion: "v1",
      kind: "Service",
      status: { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } },
    };
    expect(declared({ ...object, metadata: plain })).to.deep.equal({ ...object, metadata: withoutVersion });
    const { status: _status, ...noStatus } = object;
    expect(declared({ ...noStatus, metadata: plain })).not.to.have.property("status");
  });
});
