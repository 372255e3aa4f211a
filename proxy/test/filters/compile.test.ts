import { features } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
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
  it("a route without features has no filters and shares one empty list", () => {
    expect(compileFilters(undefined, environment)).to.have.length(0);
    expect(compileFilters({}, environment)).to.equal(compileFilters(undefined, environment));
  });

  it("a filter is built for each feature that is present", () => {
    const filters = compileFilters({ "max-body-size": { maxBytes: 1 } }, environment);
    expect(filters.map(({ slug }) => slug)).to.deep.equal(["max-body-size"]);
  });

  it("filters are built in the order of their list, independent of the order of the features", () => {
    const filters = compileFilters(
      { timeouts: { readTimeoutMs: 1 }, "max-body-size": { maxBytes: 1 }, "ip-access-control": { deny: [] } },
      environment,
    );
    expect(filters.map(({ slug }) => slug)).to.deep.equal(["ip-access-control", "max-body-size", "timeouts"]);
  });
});

describe("the filter order", () => {
  it("the filter order names each feature once, with the reason for its place", () => {
    const slugs = filterOrder.map(({ slug }) => slug);
    expect(slugs.toSorted()).to.deep.equal(Object.keys(features).toSorted());
    for (const { why } of filterOrder) expect(why.length).to.be.greaterThan(20);
  });
});
