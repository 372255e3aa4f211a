import { expect } from "chai";
import { definitionOf, kindNames, type KindName } from "../../../src/api/kinds.ts";
import type { InstalledKind } from "../../../src/sources/kubernetes/installed-kinds.ts";
import { planWatches } from "../../../src/sources/kubernetes/watch-plan.ts";

const without = (...missing: readonly KindName[]): readonly InstalledKind[] =>
  kindNames
    .filter((kind) => !missing.includes(kind))
    .map((kind) => ({ kind, apiVersion: "v1", path: `/${definitionOf(kind).plural}` }));

const enabled = { disableIngress: false, disableGatewayApi: false, disableClusterScope: false };

const kindsOf = (plan: ReturnType<typeof planWatches>): readonly KindName[] =>
  plan.kinds.map(({ kind }) => kind);

describe("planWatches", () => {
  it("all installed kinds are watched", () => {
    const plan = planWatches(without("TCPRoute"), enabled);
    expect(plan.gatewayApi).to.equal("served");
    expect(kindsOf(plan)).to.deep.equal(kindNames.filter((kind) => kind !== "TCPRoute"));
  });

  for (const kind of ["GatewayClass", "Gateway", "HTTPRoute"] as const) {
    it(`the whole Gateway API is left out when ${kind} is not installed`, () => {
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

  it("the Gateway API is reported as disabled, not missing, when it is switched off", () => {
    const plan = planWatches(without("Gateway"), { ...enabled, disableGatewayApi: true });
    expect(plan.gatewayApi).to.equal("disabled");
    expect(kindsOf(plan)).not.to.include("HTTPRoute");
  });

  it("kinds without a namespace are not watched without the scope of the cluster, and the others are", () => {
    const plan = planWatches(without(), { ...enabled, disableClusterScope: true });
    expect(plan.gatewayApi).to.equal("served");
    expect(kindsOf(plan)).to.deep.equal(kindNames.filter((kind) => definitionOf(kind).namespaced));
    expect(kindsOf(plan)).not.to.include.oneOf(["IngressClass", "GatewayClass", "Namespace"]);
  });

  it("Ingresses are not watched when they are switched off", () => {
    const plan = planWatches(without(), { ...enabled, disableIngress: true });
    expect(kindsOf(plan)).not.to.include.oneOf(["Ingress", "IngressClass"]);
    expect(kindsOf(plan)).to.include("HTTPRoute");
  });
});
