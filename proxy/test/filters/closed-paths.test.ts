import type { ClosedPaths } from "@svc-gateway/common/features/closed-paths.ts";
import { expect } from "chai";
import { closedPathsFilter } from "../../src/filters/closed-paths.ts";
import { exchange } from "./support.ts";

const feature: ClosedPaths = {
  paths: [
    { type: "beginning", value: "/-/reload" },
    { type: "exact", value: "/metrics" },
    { type: "regex", value: "^/(?:build|tests)/" },
    { type: "regex", value: "(?i)\\.php$" },
    { type: "beginning", value: "/café" },
  ],
  statusCode: 503,
};

const statusOf = (path: string, of: ClosedPaths = feature): number | undefined => {
  const under = exchange();
  under.matchedPath = path;
  const reply = closedPathsFilter(of).onRequest?.(under);
  return reply instanceof Promise ? undefined : reply?.status;
};

describe("the closed-paths filter", () => {
  for (const path of [
    "/-/reload",
    "/-/reload/now",
    "/-/reloaded",
    "/metrics",
    "/%6Detrics",
    "/build/a",
    "/%62uild/a",
    "//build/a",
    "/a%2F..%2Fbuild/x",
    "/a.PHP",
    "/caf%C3%A9",
  ]) {
    it(`closed-paths: ${path} is closed`, () => expect(statusOf(path)).to.equal(503));
  }

  for (const path of [
    "/",
    "/-/ready",
    "/metrics/a",
    "/metricsx",
    "/x/build/",
    "/building",
    "/a.phps",
    "/METRICS",
  ]) {
    it(`closed-paths: ${path} is open`, () => expect(statusOf(path)).to.equal(undefined));
  }

  it("closed-paths: a path that is too long for the regular expressions is closed", () => {
    expect(statusOf(`/${"a".repeat(60_000)}`)).to.equal(503);
    const plain: ClosedPaths = { paths: [{ type: "exact", value: "/metrics" }], statusCode: 403 };
    expect(statusOf(`/${"a".repeat(60_000)}`, plain)).to.equal(undefined);
  });

  it("closed-paths: a regular expression that does not compile closes every path", () => {
    expect(statusOf("/", { paths: [{ type: "regex", value: "(" }], statusCode: 403 })).to.equal(403);
  });
});
