import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { expect } from "chai";
import { findReordered } from "../../src/migrate/regex-order.ts";
import type { ServedUnit } from "../../src/migrate/served-units.ts";

/** A path of an Ingress at a position of its host. */
const unit = (ingress: string, path: PathMatch, place: number): ServedUnit => ({
  ingress: `shop/${ingress}`,
  host: "shop.example",
  part: "0.0",
  route: {
    id: `ingress/shop/${ingress}:0.0`,
    source: { kind: "Ingress", namespace: "shop", name: ingress },
    match: { path },
    backends: [],
  },
  ofHost: { inherit: false },
  places: [place],
  matches: [{ path }],
  endpointsOf: () => undefined,
  tlsOf: () => undefined,
});

describe("migrate: the order of regular expressions", () => {
  it("a redirect for every path that precedes the regular expression of another Ingress is lost for both", () => {
    const redirect: PathMatch = { type: "prefix", value: "/" };
    const expression: PathMatch = { type: "regex", value: "(?i)/a(?s:.*)", whole: true };
    const after = new Map([
      ["80 site-http", unit("site", redirect, 0)],
      ["80 api", unit("api", expression, 1)],
    ]);
    const moved = [
      { before: unit("site", redirect, 1), notes: [], after: "80 site-http" },
      { before: unit("api", expression, 0), notes: [], after: "80 api" },
    ];
    expect([...findReordered(moved, after).keys()]).to.have.members(["shop/site", "shop/api"]);
  });
});
