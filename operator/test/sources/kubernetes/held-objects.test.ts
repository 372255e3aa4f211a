import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { invalidityOf, isStandIn } from "../../../src/api/stand-in.ts";
import { createHeldObjects } from "../../../src/sources/kubernetes/held-objects.ts";

const ingressAt = (
  version: string,
  parts: { host?: string; status?: unknown; uid?: string } = {},
): KubeObject =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "a", namespace: "ns", uid: parts.uid ?? "u", resourceVersion: version },
    spec: {
      defaultBackend: { service: { name: parts.host ?? "web", port: { number: 80 } } },
    },
    ...(parts.status !== undefined && { status: parts.status }),
  }) as unknown as KubeObject;

const address = (ip: string): object => ({ loadBalancer: { ingress: [{ ip }] } });

const ok = (change: string): object => ({ change });

describe("createHeldObjects", () => {
  it("a change of status alone keeps the held object", () => {
    const held = createHeldObjects();
    expect(held.put("ns/a", ingressAt("1"))).to.deep.equal(ok("declared"));
    const object = held.get("ns/a");
    expect(held.put("ns/a", ingressAt("2", { status: address("10.0.0.1") }))).to.deep.equal(ok("observed"));
    expect(held.get("ns/a")).to.equal(object);
    expect(held.observed("ns/a")).to.deep.equal({ version: "2", status: address("10.0.0.1") });
    expect(object).not.to.have.property("status");
  });

  it("an object that a new list brings unchanged is kept", () => {
    const held = createHeldObjects();
    held.put("ns/a", ingressAt("1"));
    const object = held.get("ns/a");
    expect(held.put("ns/a", ingressAt("1"))).to.deep.equal(ok("nothing"));
    expect(held.put("ns/a", ingressAt("2"))).to.deep.equal(ok("nothing"));
    expect(held.get("ns/a")).to.equal(object);
    expect(held.observed("ns/a")?.version).to.equal("2");
  });

  it("an object whose declared part or uid changes is replaced", () => {
    const held = createHeldObjects();
    held.put("ns/a", ingressAt("1"));
    const object = held.get("ns/a");
    expect(held.put("ns/a", ingressAt("2", { host: "other" }))).to.deep.equal(ok("declared"));
    expect(held.get("ns/a")).not.to.equal(object);
    expect(held.put("ns/a", ingressAt("3", { host: "other", uid: "v" }))).to.deep.equal(ok("declared"));
  });

  it("the status is kept as it was sent, with the fields of other controllers", () => {
    const held = createHeldObjects();
    const status = { loadBalancer: { vendor: { x: 1 } }, unknown: [1] };
    held.put("ns/a", ingressAt("1", { status }));
    expect(held.observed("ns/a")?.status).to.deep.equal(status);
  });

  it("an Ingress that gets a class beside another class in its annotation is replaced", () => {
    const withClass = (version: string, ingressClassName: string | undefined): KubeObject => {
      const { metadata, spec, ...rest } = ingressAt(version) as KubeObject & { readonly spec: object };
      const annotations = { "kubernetes.io/ingress.class": "nginx" };
      return {
        ...rest,
        metadata: { ...metadata, annotations },
        spec: { ...spec, ...(ingressClassName !== undefined && { ingressClassName }) },
      } as KubeObject;
    };
    const held = createHeldObjects();
    held.put("ns/a", withClass("1", undefined));
    expect(held.put("ns/a", withClass("2", "svc"))).to.deep.equal(ok("declared"));
    expect(held.get("ns/a")).to.have.nested.property("spec.ingressClassName", "svc");
  });

  it("a Service is held with any conditions in its status", () => {
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a", namespace: "ns", uid: "u", resourceVersion: "1" },
      spec: { ports: [{ port: 80 }] },
      status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: null }] },
    } as unknown as KubeObject;
    const held = createHeldObjects();
    expect(held.put("ns/a", service)).to.deep.equal(ok("declared"));
  });

  it("an invalid object is rejected, and the last valid one stays", () => {
    const held = createHeldObjects();
    held.put("ns/a", ingressAt("1"));
    const object = held.get("ns/a");
    const broken = { ...ingressAt("2"), spec: { rules: "none" } } as unknown as KubeObject;
    expect(held.put("ns/a", broken)).to.include({ change: "nothing" }).and.to.have.property("invalid");
    expect(held.get("ns/a")).to.equal(object);
  });

  const rateLimitAt = (version: string, requestsPerSecond: unknown, uid = "u"): KubeObject =>
    ({
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "RateLimit",
      metadata: { name: "a", namespace: "ns", uid, resourceVersion: version, generation: Number(version) },
      spec: { requestsPerSecond },
    }) as unknown as KubeObject;
  const problem = 'spec.requestsPerSecond: must be a number, found "many"';

  it("a stand-in is held in place of an invalid policy, until that is valid", () => {
    const held = createHeldObjects();
    expect(held.put("ns/a", rateLimitAt("1", "many")).change).to.equal("declared");
    const standIn = held.get("ns/a") ?? {};
    expect(isStandIn(standIn)).to.equal(true);
    expect(standIn).to.have.deep.property("metadata", {
      name: "a",
      namespace: "ns",
      uid: "u",
      generation: 1,
    });
    expect(invalidityOf(standIn)).to.deep.equal({ problems: [problem], generation: 1 });
    expect(held.put("ns/a", rateLimitAt("1", "many"))).to.deep.equal(ok("nothing"));
    expect(held.put("ns/a", rateLimitAt("2", 5))).to.deep.equal(ok("declared"));
    expect(invalidityOf(held.get("ns/a") ?? {})).to.equal(undefined);
  });

  it("the last valid version of a policy is held with what is wrong with the newest one", () => {
    const held = createHeldObjects();
    held.put("ns/a", rateLimitAt("1", 5));
    expect(held.put("ns/a", rateLimitAt("2", "many")).change).to.equal("declared");
    const kept = held.get("ns/a") ?? {};
    expect(isStandIn(kept)).to.equal(false);
    expect(kept).to.have.nested.property("spec.requestsPerSecond", 5);
    expect(invalidityOf(kept)).to.deep.equal({ problems: [problem], generation: 2 });
    expect(held.observed("ns/a")?.version).to.equal("2");
    expect(held.put("ns/a", rateLimitAt("3", 5)).change).to.equal("declared");
    expect(invalidityOf(held.get("ns/a") ?? {})).to.equal(undefined);
  });

  it("no version of a deleted policy is held for an invalid one of the same name", () => {
    const held = createHeldObjects();
    held.put("ns/a", rateLimitAt("1", 5));
    held.put("ns/a", rateLimitAt("2", "many", "other"));
    expect(isStandIn(held.get("ns/a") ?? {})).to.equal(true);
  });

  it("the answer to a write is known before the watch delivers it", () => {
    const held = createHeldObjects();
    held.put("ns/a", ingressAt("1"));
    held.remember("ns/a", ingressAt("5", { status: address("10.0.0.1") }), "1");
    expect(held.observed("ns/a")).to.deep.equal({ version: "5", status: address("10.0.0.1") });
    expect(held.put("ns/a", ingressAt("5", { status: address("10.0.0.1") }))).to.deep.equal(ok("nothing"));
  });

  it("the answer to a write does not replace a version that another client wrote since", () => {
    const held = createHeldObjects();
    held.put("ns/a", ingressAt("1"));
    expect(held.put("ns/a", ingressAt("5", { status: address("10.0.0.1") }))).to.deep.equal(ok("observed"));
    expect(held.put("ns/a", ingressAt("6", { status: address("10.9.9.9") }))).to.deep.equal(ok("observed"));
    held.remember("ns/a", ingressAt("5", { status: address("10.0.0.1") }), "1");
    expect(held.observed("ns/a")).to.deep.equal({ version: "6", status: address("10.9.9.9") });
    expect(held.isWritten("ns/a")).to.equal(false);
  });

  it("an own write is recognised whether the watch or the answer arrives first", () => {
    const held = createHeldObjects();
    const written = ingressAt("5", { status: address("10.0.0.1") });
    held.put("ns/a", ingressAt("1"));
    expect(held.isWritten("ns/a")).to.equal(false);
    held.put("ns/a", written);
    held.remember("ns/a", written, "1");
    expect(held.isWritten("ns/a")).to.equal(true);
    held.put("ns/a", ingressAt("6", { status: address("10.9.9.9") }));
    expect(held.isWritten("ns/a")).to.equal(false);
    held.remember("ns/a", ingressAt("7", { status: address("10.0.0.1") }), "6");
    expect(held.isWritten("ns/a")).to.equal(true);
  });

  it("a declared change in the answer to a write is still reported by the watch", () => {
    const held = createHeldObjects();
    held.put("ns/a", ingressAt("1"));
    held.remember("ns/a", ingressAt("5", { host: "other", status: address("10.0.0.1") }), "1");
    expect(held.put("ns/a", ingressAt("5", { host: "other", status: address("10.0.0.1") }))).to.deep.equal(
      ok("declared"),
    );
  });

  it("the answer to a write is ignored when the object was deleted or recreated", () => {
    const held = createHeldObjects();
    held.remember("ns/a", ingressAt("5"), "");
    expect(held.observed("ns/a")).to.equal(undefined);
    held.put("ns/a", ingressAt("1"));
    held.remember("ns/a", ingressAt("5", { uid: "other" }), "1");
    expect(held.observed("ns/a")?.version).to.equal("1");
    held.delete("ns/a");
    expect(held.names()).to.deep.equal([]);
  });
});
