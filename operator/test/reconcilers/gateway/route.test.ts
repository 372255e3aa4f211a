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
  it("writes an entry for each reference to a parent of ours", async () => {
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

  it("leaves the entries of other controllers, and takes away its own that no reference asks for any more", async () => {
    const theirs = { controllerName: "example.com/other", parentRef: { name: "edge" }, conditions: [] };
    const stale = { controllerName: ours, parentRef: { name: "edge", sectionName: "gone" }, conditions: [] };
    const { parents } = await run("[{ name: edge }]", { parents: [theirs, stale] });
    expect(parents).to.have.length(2);
    expect(parents[0]).to.deep.equal(theirs);
    expect(parents[1]?.parentRef).to.deep.include({ name: "edge" });
    expect(parents[1]?.parentRef).to.not.have.property("sectionName");
  });

  it("renews an entry whose reference is written in another way", async () => {
    const first = await run("[{ name: edge }]");
    expect(
      await run("[{ name: edge, namespace: shop, group: gateway.networking.k8s.io }]", first),
    ).to.deep.equal(first);
  });

  it("takes its entries from a route that names no parent of ours any more", async () => {
    const theirs = { controllerName: "example.com/other", parentRef: { name: "edge" }, conditions: [] };
    const before = await run("[{ name: edge }]", { parents: [theirs] });
    expect(await run("[{ name: foreign }]", before)).to.deep.equal({ parents: [theirs] });
  });
});
