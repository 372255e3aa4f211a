import { expect } from "chai";
import { routeReconciler } from "../../../src/reconcilers/gateway/route.ts";
import { brief, buildOf, gatewayYaml, statusAfter } from "./support.ts";

const ours = "svc-labs.dev/gateway-controller";
const routeYaml = (refs: string): string => `${gatewayYaml}---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, namespace: shop, generation: 2 }
spec:
  parentRefs: ${refs}
  rules: [{ backendRefs: [{ name: missing, port: 80 }] }]
`;

type Parents = {
  readonly parents: readonly {
    readonly controllerName: string;
    readonly parentRef: object;
    readonly conditions: unknown;
  }[];
};

const run = async (refs: string, status: unknown = {}) =>
  (await statusAfter(
    routeReconciler("HTTPRoute", ours),
    buildOf(routeYaml(refs)),
    "shop/web",
    status,
  )) as Parents;

describe("routeReconciler", () => {
  it("the route status has an entry for each reference to a parent of this controller", async () => {
    const { parents } = await run(
      "[{ name: edge, sectionName: http }, { name: edge, sectionName: none }, { name: foreign }]",
    );
    expect(
      parents.map(({ controllerName, conditions }) => [controllerName, ...brief(conditions)]),
    ).to.deep.equal([
      [ours, "Accepted=True Accepted@2", "ResolvedRefs=False BackendNotFound@2"],
      [ours, "Accepted=False NoMatchingParent@2", "ResolvedRefs=False BackendNotFound@2"],
    ]);
  });

  it("entries of other controllers stay, and own entries that no reference needs are removed", async () => {
    const theirs = { controllerName: "example.com/other", parentRef: { name: "edge" }, conditions: [] };
    const stale = { controllerName: ours, parentRef: { name: "edge", sectionName: "gone" }, conditions: [] };
    const { parents } = await run("[{ name: edge }]", { parents: [theirs, stale] });
    expect(parents).to.have.length(2);
    expect(parents[0]).to.deep.equal(theirs);
    expect(parents[1]?.parentRef).to.deep.include({ name: "edge" });
    expect(parents[1]?.parentRef).to.not.have.property("sectionName");
  });

  it("an entry is updated in place when its reference is spelt differently", async () => {
    const first = await run("[{ name: edge }]");
    expect(
      await run("[{ name: edge, namespace: shop, group: gateway.networking.k8s.io }]", first),
    ).to.deep.equal(first);
  });

  it("own entries are removed from a route that no longer refers to a parent of this controller", async () => {
    const theirs = { controllerName: "example.com/other", parentRef: { name: "edge" }, conditions: [] };
    const before = await run("[{ name: edge }]", { parents: [theirs] });
    expect(await run("[{ name: foreign }]", before)).to.deep.equal({ parents: [theirs] });
  });
});
