import { expect } from "chai";
import { features } from "@svc-gateway/common/features/registry.ts";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import { compileFilters } from "../../src/filters/compile.ts";
import { filterOrder } from "../../src/filters/order.ts";

const environment = {
  auth: createAuthStore(),
  rates: { counter: () => ({ take: () => 0 }) },
  upstreamOf: () => () => {
    throw new Error("no filter here asks for an upstream");
  },
  encoders: { take: () => true, free: () => {} },
};

describe("compileFilters", () => {
  it("costs nothing without features", () => {
    expect(compileFilters(undefined, environment)).to.have.length(0);
    expect(compileFilters({}, environment)).to.equal(compileFilters(undefined, environment));
  });

  it("builds a filter for each feature that is present", () => {
    const filters = compileFilters({ "max-body-size": { maxBytes: 1 } }, environment);
    expect(filters.map(({ slug }) => slug)).to.deep.equal(["max-body-size"]);
  });
});

describe("the filter order", () => {
  it("has one place with a reason for each feature, and no two at the same place", () => {
    expect(Object.keys(filterOrder).toSorted()).to.deep.equal(Object.keys(features).toSorted());
    const places = Object.values(filterOrder);
    expect(new Set(places.map(({ at }) => at)).size).to.equal(places.length);
    for (const { why } of places) expect(why.length).to.be.greaterThan(20);
  });
});
