import { expect } from "chai";
import type { ObjectOf } from "../../../../src/api/kinds.ts";
import { unusableRoute } from "../../../../src/translate/gateway/routes/route-plan.ts";
import { routeStatus } from "../../../../src/translate/gateway/status/object-status.ts";

describe("routeStatus", () => {
  it("the status of a route whose translation throws is Accepted=False", () => {
    const parentRef = { name: "edge" };
    const route: ObjectOf<"HTTPRoute"> = {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "HTTPRoute",
      metadata: { name: "web", namespace: "shop" },
      spec: { parentRefs: [parentRef] },
    };
    const plan = { ...unusableRoute(route), diagnostics: [] };
    const attachment = { parentRef, refusal: undefined, listeners: [], isAuthenticated: true };
    const [atEdge] = routeStatus(plan, [attachment]).parents;
    expect(atEdge?.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).to.deep.equal(
      ["Accepted=False UnsupportedValue", "ResolvedRefs=True ResolvedRefs"],
    );
  });
});
