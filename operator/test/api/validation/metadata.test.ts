import { expect } from "chai";
import { accepted, problemsOf, warningsOf } from "../expect.ts";
import { manifest } from "../manifests.ts";

const withMetadata = (metadata: object): unknown => ({ ...manifest("v1", "ConfigMap", {}), metadata });

describe("metadata", () => {
  it("a namespaced object without a namespace is in the namespace default", () => {
    expect(accepted(withMetadata({ name: "a" })).metadata).to.deep.equal({ name: "a", namespace: "default" });
    expect(accepted(withMetadata({ name: "a", namespace: "" })).metadata.namespace).to.equal("default");
  });

  it("the namespace of a cluster-scoped object is dropped with a warning", () => {
    const ingressClass = manifest("networking.k8s.io/v1", "IngressClass", { spec: { controller: "a.b/c" } });
    expect(warningsOf(ingressClass)).to.deep.equal([
      "metadata.namespace: is ignored: this kind is not namespaced",
    ]);
    expect(accepted(ingressClass).metadata).to.deep.equal({ name: "sample" });
  });

  it("the name of a ClusterTrustBundle may have the prefix of a signer, unlike other names", () => {
    const bundle = (name: string) => ({
      apiVersion: "certificates.k8s.io/v1",
      kind: "ClusterTrustBundle",
      metadata: { name },
      spec: { trustBundle: "" },
    });
    expect(accepted(bundle("example.com:signer:roots")).metadata.name).to.equal("example.com:signer:roots");
    expect(problemsOf(bundle("example.com::roots"))).to.have.length(1);
    expect(problemsOf(withMetadata({ name: "example.com:roots" }))).to.have.length(1);
  });

  it("metadata that the server writes and this project reads is kept, and managedFields are dropped silently", () => {
    const metadata = {
      name: "a",
      namespace: "b",
      uid: "u",
      resourceVersion: "7",
      generation: 3,
      creationTimestamp: "2026-01-02T03:04:05Z",
      labels: { app: "web", "example.com/tier": "" },
      annotations: { "Example.com/Note": "any text\n" },
      finalizers: ["example.com/x"],
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true }],
    };
    expect(warningsOf(withMetadata({ ...metadata, managedFields: [{}], selfLink: "x" }))).to.deep.equal([]);
    expect(accepted(withMetadata({ ...metadata, managedFields: [{}] })).metadata).to.deep.equal(metadata);
  });

  it("a null creationTimestamp, as kubectl prints it, counts as absent", () => {
    expect(accepted(withMetadata({ name: "a", creationTimestamp: null })).metadata).not.to.have.property(
      "creationTimestamp",
    );
  });

  for (const [problem, metadata] of Object.entries({
    "metadata.name: is required": {},
    "metadata.name: must be at most 253 lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit, found \"Web\"":
      { name: "Web" },
    "metadata.namespace: must be at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit, found \"a.b\"":
      { name: "a", namespace: "a.b" },
    "metadata.name: must be a string, found 5": { name: 5 },
    "metadata.labels.app: must be a string, found 1": { name: "a", labels: { app: 1 } },
    "metadata.labels.app: must be at most 63 letters, digits, '-', '_' and '.', found \"a b\"": {
      name: "a",
      labels: { app: "a b" },
    },
    'metadata.labels: has the key "-x", which is not a label name': { name: "a", labels: { "-x": "" } },
    'metadata.annotations: has the key "a/b/c", which is not an annotation name': {
      name: "a",
      annotations: { "a/b/c": "" },
    },
    'metadata.annotations["ingress.svc-labs.dev/ssl-redirect"]: must be a string, found true': {
      name: "a",
      annotations: { "ingress.svc-labs.dev/ssl-redirect": true },
    },
    'metadata.creationTimestamp: must be an RFC 3339 time, found "yesterday"': {
      name: "a",
      creationTimestamp: "yesterday",
    },
  })) {
    it(`metadata: rejects ${problem}`, () => {
      expect(problemsOf(withMetadata(metadata))).to.deep.equal([problem]);
    });
  }

  it("annotations may have exactly 262144 bytes, counted in UTF-8, and not one more", () => {
    const most = "é".repeat((262_144 - 2) / 2);
    accepted(withMetadata({ name: "a", annotations: { ab: most } }));
    expect(problemsOf(withMetadata({ name: "a", annotations: { abc: most } }))).to.deep.equal([
      "metadata.annotations: must be at most 262144 bytes in total, keys and values together, found 262145 bytes",
    ]);
  });

  it("the name of a Service or Namespace must be a single label", () => {
    const service = manifest("v1", "Service", { spec: { ports: [{ port: 80 }] } });
    expect(problemsOf({ ...service, metadata: { name: "a.b" } })[0]).to.match(
      /^metadata\.name: must be at most 63 /,
    );
    expect(problemsOf({ apiVersion: "v1", kind: "Namespace", metadata: { name: "a.b" } })).to.have.length(1);
  });
});
