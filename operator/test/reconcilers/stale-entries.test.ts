import { expect } from "chai";
import type { Build } from "../../src/build/table-builder.ts";
import { routeReconciler } from "../../src/reconcilers/gateway/route.ts";
import { withStaleEntries } from "../../src/reconcilers/stale-entries.ts";
import { buildOf, gatewayYaml } from "./gateway/support.ts";

const controllerName = "svc-labs.dev/gateway-controller";
const ours = { controllerName, parentRef: { name: "gone" }, conditions: [] };
const theirs = { ...ours, controllerName: "example.com/other" };

const routeYaml = (name: string, gateway: string): string => `${gatewayYaml}---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, namespace: shop, generation: 2 }
spec: { parentRefs: [{ name: ${gateway} }] }
`;

/** The routes (`namespace/name`) that are reconciled after a build, if each of them has this status. */
const dirtyWith = (status: unknown, previous: Build | undefined, next: Build): readonly string[] => {
  const reconciler = withStaleEntries(routeReconciler("HTTPRoute", controllerName), {
    controllerName,
    observed: () => ({ status }),
  });
  return [...reconciler.dirty(previous, next)];
};

describe("withStaleEntries", () => {
  const build = buildOf(routeYaml("web", "gone"));

  it("a route without a parent is reconciled by the first build if its status has an entry of this controller", () => {
    expect(dirtyWith({ parents: [theirs, ours] }, undefined, build)).to.deep.equal(["shop/web"]);
    for (const status of [
      undefined,
      {},
      { parents: [theirs] },
      { parents: [null, 5] },
      { parents: "none" },
    ]) {
      expect(dirtyWith(status, undefined, build), JSON.stringify(status)).to.deep.equal([]);
    }
  });

  it("a route that appears later is reconciled as well, and one that has not changed is not", () => {
    const status = { parents: [ours] };
    expect(dirtyWith(status, buildOf(gatewayYaml), build)).to.deep.equal(["shop/web"]);
    expect(dirtyWith(status, build, build)).to.deep.equal([]);
  });

  it("a route with a parent of this controller is reconciled with any status", () => {
    const attached = buildOf(routeYaml("web", "edge"));
    expect(dirtyWith(undefined, undefined, attached)).to.deep.equal(["shop/web"]);
    expect(dirtyWith({ parents: [ours] }, undefined, attached)).to.deep.equal(["shop/web"]);
  });
});
