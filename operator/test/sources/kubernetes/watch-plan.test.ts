import { expect } from "chai";
import { definitionOf, kindNames, type KindName } from "../../../src/api/kinds.ts";
import type { InstalledKind } from "../../../src/sources/kubernetes/installed-kinds.ts";
import { planWatches } from "../../../src/sources/kubernetes/watch-plan.ts";

const without = (...missing: readonly KindName[]): readonly InstalledKind[] =>
  kindNames
    .filter((kind) => !missing.includes(kind))
    .map((kind) => ({ kind, apiVersion: "v1", path: `/${definitionOf(kind).plural}` }));

const enabled = { disableIngress: false, disableGatewayApi: false };

const kindsOf = (plan: ReturnType<typeof planWatches>): readonly KindName[] =>
  plan.kinds.map(({ kind }) => kind);

describe("planWatches", () => {
  it("follows everything that is installed", () => {
    const plan = planWatches(without("TCPRoute"), enabled);
    expect(plan.gatewayApi).to.equal("served");
    expect(kindsOf(plan)).to.deep.equal(kindNames.filter((kind) => kind !== "TCPRoute"));
  });

  for (const kind of ["GatewayClass", "Gateway", "HTTPRoute"] as const) {
    it(`leaves the whole Gateway API alone without ${kind}`, () => {
      const plan = planWatches(without(kind), enabled);
      expect(plan).to.deep.include({ gatewayApi: "missing", missing: [kind] });
      expect(kindsOf(plan)).to.include.members([
        "Ingress",
        "IngressClass",
        "Secret",
        "Service",
        "ReferenceGrant",
      ]);
      expect(kindsOf(plan)).not.to.include.oneOf([
        "GatewayClass",
        "Gateway",
        "HTTPRoute",
        "GRPCRoute",
        "TLSRoute",
      ]);
    });
  }

  it("does not call the Gateway API missing when it is not wanted", () => {
    const plan = planWatches(without("Gateway"), { ...enabled, disableGatewayApi: true });
    expect(plan.gatewayApi).to.equal("disabled");
    expect(kindsOf(plan)).not.to.include("HTTPRoute");
  });

  it("leaves Ingresses alone when they are not wanted", () => {
    const plan = planWatches(without(), { ...enabled, disableIngress: true });
    expect(kindsOf(plan)).not.to.include.oneOf(["Ingress", "IngressClass"]);
    expect(kindsOf(plan)).to.include("HTTPRoute");
  });
});
