import type { Route } from "@svc-gateway/common/ir/route.ts";
import { anchoredPattern } from "@svc-gateway/common/values/regex-literal.ts";
import { expect } from "chai";
import fc from "fast-check";
import { isOverspent } from "../../src/routing/regex-budget.ts";
import { decodedPath } from "@svc-gateway/common/values/path-segments.ts";
import { encodedPath } from "../../src/routing/decoded-path.ts";
import { explainMatch } from "../../src/routing/explain.ts";
import { exact, hostCase, hostTable, portTable, prefix, regex, request, type HostCase } from "./support.ts";

const anchored = (id: string, pattern: string): Route => regex(id, anchoredPattern(pattern));

const winner = (routes: readonly Route[], path: string, rest: Partial<HostCase> = {}): string | undefined =>
  hostTable(hostCase("example.com", routes, rest)).match(request(path))?.id;

const decoded = { matchPaths: "decoded" } as const;

describe("a regex that is anchored and ignores case", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["/id/[0-9]+", "/id/123a", true],
    ["/id/[0-9]+", "/ID/1/x", true],
    ["/id/[0-9]+", "/x/id/1", false],
    ["/id/[0-9]+$", "/id/123a", false],
    ["/foo", "/foobar", true],
    ["/foo", "/FooBar", true],
    ["/foo/", "/foo", false],
    ["/api(/|$)(.*)", "/api", true],
    ["/api(/|$)(.*)", "/apix", false],
    ["/a|/b", "/x/b", true],
    ["/a|/b", "/x/a", false],
    ["/a.b", "/a-b", true],
    ["/a\\.b", "/a-b", false],
    ["/a\\.b", "/A.Bc", true],
  ];
  for (const [pattern, path, expected] of rows) {
    it(`the regex ${pattern} ${expected ? "matches" : "does not match"} ${path}`, () => {
      expect(winner([anchored("r", pattern)], path)).to.equal(expected ? "r" : undefined);
    });
  }

  it("regexes of one host are tried in their order, however many there are", () => {
    const routes = Array.from({ length: 100 }, (_, index) => anchored(`r${index}`, `/s${index}(/|$)(.*)`));
    for (const index of [0, 9, 42, 99]) expect(winner(routes, `/S${index}/x`)).to.equal(`r${index}`);
    expect(winner([...routes, anchored("rest", "/")], "/s100/x")).to.equal("rest");
  });

  it("a regex whose literal beginning is missing from a path costs the lookup nothing", () => {
    const routes = Array.from({ length: 200 }, (_, index) =>
      anchored(`r${index}`, `/s${index}/(.{500}){1,2}$`),
    );
    const path = `/other/${"x".repeat(8000)}`;
    expect(winner(routes, path)).to.equal(undefined);
    expect(isOverspent()).to.equal(false);
  });

  it("exact paths and prefixes of another tier keep their meaning beside them", () => {
    const routes = [
      { ...prefix("prefix", "/a"), tier: 0 },
      { ...anchored("regex", "/b(.*)"), tier: 1 },
      { ...exact("exact", "/b/x"), tier: 2 },
    ];
    expect(winner(routes, "/a/x")).to.equal("prefix");
    expect(winner(routes, "/A/x")).to.equal(undefined);
    expect(winner(routes, "/b/x")).to.equal("regex");
  });
});

describe("the lookup by literal beginnings", () => {
  const pattern = fc.constantFrom(
    "/a",
    "/ab",
    "/a/b",
    "/b(/|$)(.*)",
    "/a(.*)",
    "/",
    "/(a|b)/c",
    "/[ab]+$",
    "/.*b",
    "/a|/b",
    "/ab?",
    "/A/B",
    "/x",
  );
  const anyRegex = fc.oneof(
    { weight: 4, arbitrary: pattern.map((one) => anchoredPattern(one)) },
    { weight: 1, arbitrary: pattern },
  );
  const path = fc
    .array(fc.constantFrom("a", "A", "b", "ab", "x", "c", ""))
    .map((parts) => `/${parts.join("/")}`);

  it("the lookup by literal beginnings takes the route that trying each in turn takes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyRegex, fc.boolean(), fc.boolean()), { minLength: 9, maxLength: 40 }),
        path,
        (given, text) => {
          const routes = given.map(([one, whole, isPost], index) =>
            regex(`r${index}`, one, { whole, ...(isPost && { method: "POST" }) }),
          );
          const turn = routes.find((one) => winner([one], text) !== undefined)?.id;
          expect(winner(routes, text)).to.equal(turn);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("a hundred regexes without a literal beginning that cost too much together leave the lookup overspent", () => {
    const routes = Array.from({ length: 100 }, (_, index) => anchored(`r${index}`, `/.*x{90}${index}$`));
    expect(winner(routes, `/${"y".repeat(2000)}`)).to.equal(undefined);
    expect(isOverspent()).to.equal(true);
  });
});

describe("a host that compares decoded paths", () => {
  const rows: readonly (readonly [Route, string, boolean])[] = [
    [prefix("r", "/admin"), "//admin", true],
    [prefix("r", "/admin"), "/%2Fadmin", true],
    [prefix("r", "/admin"), "/x/..%2Fadmin/y", true],
    [prefix("r", "/admin"), "/x%2f..%2f..%2Fadmin", true],
    [prefix("r", "/a/b"), "/a//b", true],
    [prefix("r", "/a b"), "/a%20b", true],
    [prefix("r", "/admin"), "/Admin", false],
    [exact("r", "/a/b"), "/a%2Fb", true],
    [exact("r", "/café"), "/caf%C3%A9", true],
    [exact("r", "/a%2Fb"), "/a/b", true],
    [exact("r", "/50%25"), "/50%25", true],
    [exact("r", "/a"), "/%2561", false],
    [anchored("r", "/a b"), "/A%20B", true],
    [anchored("r", "/café/x"), "/caf%C3%A9/x", true],
    [anchored("r", "/caf[éè]"), "/caf%C3%A8", true],
    [anchored("r", "/caf./x"), "/caf%C3%A9/x", false],
    [anchored("r", "/caf../x"), "/caf%C3%A9/x", true],
  ];
  for (const [route, path, expected] of rows) {
    const { type, value } = route.match.path;
    it(`the ${type} path ${value} of decoded paths ${expected ? "matches" : "does not match"} ${path}`, () => {
      expect(winner([route], path, decoded)).to.equal(expected ? "r" : undefined);
    });
  }

  it("an explanation compares decoded paths as the lookup does", () => {
    const source = hostCase("example.com", [prefix("admin", "/admin"), prefix("x", "/x")], decoded);
    const { route, hosts } = explainMatch(portTable([source]), request("//admin"));
    expect(route?.id).to.equal("admin");
    expect(hosts[0]?.candidates.map(({ verdict }) => verdict.kind)).to.deep.equal(["matched", "failed"]);
    const shadowed = hostCase("example.com", [prefix("admin", "/admin/x"), prefix("x", "/admin")], decoded);
    const second = explainMatch(portTable([shadowed]), request("//admin/x"));
    expect(second.hosts[0]?.candidates.map(({ verdict }) => verdict.kind)).to.deep.equal([
      "matched",
      "shadowed",
    ]);
  });

  it("an encoded path gives the octets of the path that was decoded", () => {
    for (const path of [
      "/caf%C3%A9",
      "/a%20b",
      "/100%25",
      "/x%0Ay",
      "/%FF%00x".replace("%00", ""),
      "/a[1]",
    ]) {
      expect(encodedPath(decodedPath(path))).to.equal(path);
    }
    expect(encodedPath(decodedPath("/a%2Fb%7E"))).to.equal("/a/b~");
  });
});
