import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import { createPermits, type Referent, type Referrer } from "../../src/translate/reference-grants.ts";
import { createWorld } from "../../src/world.ts";

const grant = (spec: unknown, namespace = "vault", version = "v1", name = "grant"): KubeObject =>
  ({
    apiVersion: `gateway.networking.k8s.io/${version}`,
    kind: "ReferenceGrant",
    metadata: { namespace, name },
    spec,
  }) as KubeObject;

const ingress: Referrer = { kind: "Ingress", namespace: "shop" };
const users: Referent = { kind: "Secret", namespace: "vault", name: "users" };

const fromIngress = { group: "networking.k8s.io", kind: "Ingress", namespace: "shop" };
const toSecrets = { group: "", kind: "Secret" };

const isPermitted = (grants: readonly KubeObject[], from = ingress, to = users): boolean =>
  createPermits(createWorld(grants))(from, to);

describe("reference grants", () => {
  it("a reference needs a ReferenceGrant across namespaces and none within one", () => {
    expect(isPermitted([], ingress, { ...users, namespace: "shop" })).to.equal(true);
    expect(isPermitted([])).to.equal(false);
  });

  it("a ReferenceGrant permits what it names, in v1 and v1beta1", () => {
    for (const version of ["v1", "v1beta1"]) {
      const spec = { from: [fromIngress], to: [toSecrets] };
      expect(isPermitted([grant(spec, "vault", version)]), version).to.equal(true);
    }
  });

  it("a ReferenceGrant permits nothing when any part of the reference differs", () => {
    const others: { readonly [part: string]: readonly [from: object, to: object] } = {
      "namespace of the referrer": [{ ...fromIngress, namespace: "blog" }, toSecrets],
      "kind of the referrer": [{ ...fromIngress, kind: "IngressClass" }, toSecrets],
      "group of the referrer": [{ ...fromIngress, group: "extensions" }, toSecrets],
      "kind of the target": [fromIngress, { ...toSecrets, kind: "Service" }],
      "group of the target": [fromIngress, { ...toSecrets, group: "example.com" }],
      "name of the target": [fromIngress, { ...toSecrets, name: "others" }],
      "name of the target, empty": [fromIngress, { ...toSecrets, name: "" }],
    };
    for (const [part, [from, to]] of Object.entries(others)) {
      expect(isPermitted([grant({ from: [from], to: [to] })]), part).to.equal(false);
    }
  });

  it("a ReferenceGrant outside the namespace of the target permits nothing", () => {
    expect(isPermitted([grant({ from: [fromIngress], to: [toSecrets] }, "shop")])).to.equal(false);
  });

  it("a ReferenceGrant with a name permits that object only", () => {
    const one = grant({ from: [fromIngress], to: [{ ...toSecrets, name: "users" }] });
    expect(isPermitted([one])).to.equal(true);
    expect(isPermitted([one], ingress, { ...users, name: "others" })).to.equal(false);
  });

  it("a ReferenceGrant permits every pair of its entries", () => {
    const spec = {
      from: [fromIngress, { group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "blog" }],
      to: [toSecrets, { group: "gateway.svc-labs.dev", kind: "JwtAuth" }],
    };
    const route: Referrer = { kind: "HTTPRoute", namespace: "blog" };
    const jwt: Referent = { kind: "JwtAuth", namespace: "vault", name: "login" };
    for (const from of [ingress, route]) {
      for (const to of [users, jwt]) expect(isPermitted([grant(spec)], from, to)).to.equal(true);
    }
    expect(isPermitted([grant(spec)], { ...route, namespace: "shop" })).to.equal(false);
  });

  it("two ReferenceGrants do not combine into a permission that neither gives", () => {
    const halves = [
      grant({ from: [fromIngress], to: [{ ...toSecrets, name: "others" }] }, "vault", "v1", "one"),
      grant({ from: [{ ...fromIngress, namespace: "blog" }], to: [toSecrets] }, "vault", "v1", "two"),
    ];
    expect(isPermitted(halves)).to.equal(false);
  });

  it("a malformed ReferenceGrant permits nothing and does not affect the others", () => {
    const broken = [undefined, {}, { from: 1, to: [null] }, { from: [fromIngress], to: [null] }];
    const grants = broken.map((spec, index) => grant(spec, "vault", "v1", `broken-${index}`));
    expect(isPermitted(grants)).to.equal(false);
    expect(isPermitted([...grants, grant({ from: [fromIngress], to: [toSecrets] })])).to.equal(true);
  });
});
