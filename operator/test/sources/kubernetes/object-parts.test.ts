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

  it("only the CA bundle, settings of one line and snippets of a ConfigMap are kept", () => {
    const configMap = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data: {
        "ca.crt": "PEM\nPEM",
        "proxy-body-size": "8m\n",
        "server-snippet": "deny all;\nallow all;",
        "application.properties": "a=b",
        status: "line\nline",
      },
      binaryData: { blob: "AAAA" },
      immutable: true,
    };
    expect(held(configMap)).to.deep.equal({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: plain,
      data: { "ca.crt": "PEM\nPEM", "proxy-body-size": "8m\n", "server-snippet": "deny all;\nallow all;" },
    });
    expect(held({ ...configMap, data: { "a.json": "{}" } })).not.to.have.property("data");
    expect(held({ ...configMap, data: null })).not.to.have.property("data");
  });

  it("at most 64 KiB of the settings of a ConfigMap are kept, and its CA bundle", () => {
    const data = { a: "x".repeat(40_000), b: "x".repeat(40_000), "ca.crt": "x".repeat(100_000) };
    const kept = held({ apiVersion: "v1", kind: "ConfigMap", metadata, data }) as { data?: object };
    expect(Object.keys(kept.data ?? {})).to.deep.equal(["a", "ca.crt"]);
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

  it("the declared part of a Service has the addresses of its status, without conditions", () => {
    const object = {
      apiVersion: "v1",
      kind: "Service",
      status: { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } },
    };
    expect(declared({ ...object, metadata: plain })).to.deep.equal({ ...object, metadata: withoutVersion });
    const conditions = [{ type: "Programmed", status: "True" }];
    const reported = { ...object, metadata: plain, status: { ...object.status, conditions } };
    expect(declared(reported)).to.deep.equal({ ...object, metadata: withoutVersion });
    const { status: _status, ...noStatus } = object;
    expect(declared({ ...noStatus, metadata: plain })).not.to.have.property("status");
  });
});
