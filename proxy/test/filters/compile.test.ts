import { features, type RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import { compileFilters, presentFeatures } from "../../src/filters/compile.ts";
import { filterOrder, type FilterStep } from "../../src/filters/order.ts";

const environment = {
  auth: createAuthStore(),
  rates: { counter: () => ({ take: () => 0, giveBack: () => undefined }) },
  concurrency: { enter: () => 0, leave: () => undefined },
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

  it("an early limit of the body and an early redirect to https run before address rules, in this order", () => {
    const filters = compileFilters(
      {
        "ip-access-control": { deny: [] },
        "max-body-size": { early: true, maxBytes: 1 },
        "ssl-redirect": { early: true, port: 443, statusCode: 308 },
        "trust-forwarded-for": { header: "x-forwarded-for" },
      },
      environment,
    );
    expect(filters.map(({ slug }) => slug)).to.deep.equal([
      "trust-forwarded-for",
      "max-body-size",
      "ssl-redirect",
      "ip-access-control",
    ]);
  });
});

describe("the filter order", () => {
  it("the filter order has a condition on each step of a feature with several places", () => {
    const steps: readonly FilterStep[] = filterOrder;
    const several = steps.filter(({ slug }) => steps.filter((one) => one.slug === slug).length > 1);
    expect(several).to.have.length.greaterThan(1);
    for (const { slug, when } of several) expect(when, slug).to.be.a("function");
  });

  it("the filter order runs a feature with two places at the one that its value names", () => {
    const address = { "ip-access-control": { deny: [] } };
    const cors = {
      allowOrigins: ["*"],
      allowCredentials: false,
      allowMethods: [],
      allowHeaders: [],
      exposeHeaders: [],
      maxAgeSeconds: 5,
    };
    const slugs = (value: RouteFeatures) => compileFilters(value, environment).map(({ slug }) => slug);
    const late = { ...address, cors };
    const early = { ...address, cors: { ...cors, early: true as const } };
    expect(slugs(late)).to.deep.equal(["ip-access-control", "cors"]);
    expect(slugs(early)).to.deep.equal(["cors", "ip-access-control"]);
    expect(presentFeatures(early)).to.deep.equal(["cors", "ip-access-control"]);
  });

  it("the filter order names each feature, with the reason for its place", () => {
    const slugs = new Set(filterOrder.map(({ slug }) => slug));
    expect([...slugs].toSorted()).to.deep.equal(Object.keys(features).toSorted());
    for (const { why } of filterOrder) expect(why.length).to.be.greaterThan(20);
  });
});
