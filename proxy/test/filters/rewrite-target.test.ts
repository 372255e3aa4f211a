import { expect } from "chai";
import { rewriteTargetFilter } from "../../src/filters/rewrite-target.ts";
import { exchange } from "./support.ts";

describe("the rewrite-target filter", () => {
  it("replaces the path, and nothing else", () => {
    const under = exchange();
    under.path = "/shop/cart";
    under.matchedPath = "/shop/cart";
    under.query = "?item=1";
    const filter = rewriteTargetFilter({ path: { type: "full", value: "/app/$1" } });
    expect(filter.onRequest?.(under)).to.equal(undefined);
    expect(under).to.include({ path: "/app/$1", matchedPath: "/shop/cart", query: "?item=1" });
  });
});
