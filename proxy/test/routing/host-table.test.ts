import type { Route } from "@svc-gateway/common/ir/route.ts";
import { expect } from "chai";
import type { RouteQuery } from "../../src/exchange/route-query.ts";
import { isOverspent } from "../../src/routing/regex-budget.ts";
import { compileHostTable } from "../../src/routing/host-table.ts";
import { exact, hostCase, hostTable, pattern, prefix, prepared, regex, request } from "./support.ts";
import { Fields } from "../../src/message/fields.ts";

const winner = (routes: readonly Route[], query: RouteQuery): string | undefined =>
  hostTable(hostCase("example.com", routes)).match(query)?.id;

describe("a host table", () => {
  describe("paths", () => {
    /** Rows from the examples of the Ingress documentation of Kubernetes: type, rule, request, match. */
    const rows: readonly (readonly ["exact" | "prefix", string, string, boolean])[] = [
      ["prefix", "/", "/", true],
      ["prefix", "/", "/any/thing", true],
      ["exact", "/foo", "/foo", true],
      ["exact", "/foo", "/bar", false],
      ["exact", "/foo", "/foo/", false],
      ["exact", "/foo/", "/foo", false],
      ["exact", "/foo/", "/foo/", true],
      ["prefix", "/foo", "/foo", true],
      ["prefix", "/foo", "/foo/", true],
      ["prefix", "/foo/", "/foo", true],
      ["prefix", "/foo/", "/foo/", true],
      ["prefix", "/aaa/bb", "/aaa/bbb", false],
      ["prefix", "/aaa/bbb", "/aaa/bbb", true],
      ["prefix", "/aaa/bbb/", "/aaa/bbb", true],
      ["prefix", "/aaa/bbb", "/aaa/bbb/", true],
      ["prefix", "/aaa/bbb", "/aaa/bbb/ccc", true],
      ["prefix", "/aaa/bbb", "/aaa/bbbxyz", false],
      ["prefix", "/foo", "/Foo", false],
      ["exact", "/foo", "/FOO", false],
      ["prefix", "/a", "/a//b", true],
      ["prefix", "/a", "//a", false],
      // The path of a rule is compared in its canonical form.
      ["prefix", "/%7Euser", "/~user/x", true],
      ["exact", "/café", "/caf%C3%A9", true],
      ["exact", "/a b", "/a%20b", true],
      ["exact", "/a%2fb", "/a%2fb", true],
      ["exact", "/a%2fb", "/a/b", false],
      // The digits of an escape have no case (RFC 3986 6.2.2.1).
      ["exact", "/café", "/caf%c3%a9", true],
      ["exact", "/caf%c3%A9", "/caf%C3%a9", true],
      ["exact", "/a%2fb", "/a%2Fb", true],
      ["prefix", "/caf%c3%a9", "/caf%C3%A9/x", true],
      ["prefix", "/café", "/caf%c3%a9s", false],
      ["exact", "/%C3%A9A", "/%c3%a9a", false],
      ["exact", "/a#b", "/a", false],
      ["exact", "/a%zz", "/a%zz", true],
    ];
    for (const [type, rule, path, expected] of rows) {
      it(`the ${type} path ${rule} ${expected ? "matches" : "does not match"} ${path}`, () => {
        const rules = [type === "exact" ? exact("r", rule) : prefix("r", rule)];
        expect(winner(rules, request(path))).to.equal(expected ? "r" : undefined);
      });
    }

    it("a regex path is matched against the path as the client wrote it", () => {
      const routes = [regex("upper", "^/%C3%A9$"), regex("lower", "^/%c3%a9$"), prefix("root", "/x")];
      expect(winner(routes, request("/%C3%A9"))).to.equal("upper");
      expect(winner(routes, request("/%c3%a9"))).to.equal("lower");
    });

    it("the paths of one tier are matched before those of the next, also when the next has longer ones", () => {
      const routes = [
        { ...exact("exact", "/a/b"), tier: 2 },
        prefix("root", "/a", { method: "POST" }),
        { ...prefix("deep", "/a/b"), tier: 1 },
      ];
      expect(winner(routes, request("/a/b", { method: "POST" }))).to.equal("root");
      expect(winner(routes, request("/a/b"))).to.equal("deep");
      expect(winner([routes[0] ?? prefix("", "/")], request("/a/b"))).to.equal("exact");
    });

    it("exact paths match before the longest prefix, and prefixes before regex paths in their order", () => {
      const routes = [
        regex("regex-1", "/a/b"),
        regex("regex-2", "/"),
        prefix("root", "/a"),
        prefix("deep", "/a/b"),
        exact("exact", "/a/b"),
      ];
      expect(winner(routes, request("/a/b"))).to.equal("exact");
      expect(winner(routes, request("/a/b/c"))).to.equal("deep");
      expect(winner(routes, request("/a/x"))).to.equal("root");
      expect(winner(routes, request("/x/a/b"))).to.equal("regex-1");
      expect(winner(routes, request("/x"))).to.equal("regex-2");
    });

    it("the prefix / takes every request before regex paths", () => {
      expect(winner([regex("regex", "^/a$"), prefix("root", "/")], request("/a"))).to.equal("root");
    });

    it("a default backend is tried last, although its path is a prefix of every path", () => {
      const routes = [
        { ...prefix("default", "/"), fallback: true as const },
        { ...prefix("second-default", "/"), fallback: true as const },
        regex("regex", "^/r"),
        prefix("p", "/p"),
      ];
      expect(winner(routes, request("/r"))).to.equal("regex");
      expect(winner(routes, request("/p/x"))).to.equal("p");
      expect(winner(routes, request("/x"))).to.equal("default");
    });

    it("a weaker path is tried when the conditions of a stronger one do not hold", () => {
      const post = { method: "POST" };
      const routes = [
        exact("e", "/a/b", post),
        prefix("p", "/a/b", post),
        regex("r", "/a", post),
        prefix("root", "/"),
      ];
      expect(winner(routes, request("/a/b"))).to.equal("root");
      expect(winner(routes.slice(0, 3), request("/a/b"))).to.equal(undefined);
    });

    it("a regex path matches anywhere in the path, or the whole path when that is asked for", () => {
      expect(winner([regex("r", "/v[0-9]+")], request("/api/v12/x"))).to.equal("r");
      expect(winner([regex("r", "/v[0-9]+", { whole: true })], request("/api/v12/x"))).to.equal(undefined);
      expect(winner([regex("r", "/v[0-9]+", { whole: true })], request("/v12"))).to.equal("r");
    });
  });

  describe("conditions", () => {
    it("the first route of a path whose conditions hold takes the request", () => {
      const routes = [
        prefix("post", "/", { method: "POST" }),
        prefix("header", "/", { headers: [{ name: "x-v", type: "exact", value: "2" }] }),
        prefix("query", "/", { query: [{ name: "v", type: "exact", value: "2" }] }),
        prefix("rest", "/"),
        prefix("never", "/"),
      ];
      expect(winner(routes, request("/", { method: "POST", headers: Fields.of(["X-V", "2"]) }))).to.equal(
        "post",
      );
      expect(winner(routes, request("/", { headers: Fields.of(["X-V", "2"]), query: "?v=2" }))).to.equal(
        "header",
      );
      expect(winner(routes, request("/", { headers: Fields.of(["X-V", "3"]), query: "?v=2" }))).to.equal(
        "query",
      );
      expect(winner(routes, request("/", { query: "?v=3" }))).to.equal("rest");
    });

    it("a condition on Host reads the authority of a request without the field, as over HTTP/2", () => {
      const host = (type: "exact" | "regex", value: string): readonly Route[] => [
        prefix("host", "/", { headers: [{ name: "Host", type, value }] }),
      ];
      const authority = "a.example.com:8080";
      expect(winner(host("exact", authority), request("/", { authority }))).to.equal("host");
      expect(winner(host("regex", "^a\\."), request("/", { authority }))).to.equal("host");
      expect(winner(host("exact", "b.example.com"), request("/", { authority }))).to.equal(undefined);
      expect(winner(host("regex", ""), request("/", { authority: "" }))).to.equal(undefined);
      const asSent = request("/", { authority, headers: Fields.of(["Host", "A.example.com:8080"]) });
      expect(winner(host("exact", "A.example.com:8080"), asSent)).to.equal("host");
    });

    it("a route matches only when every one of its conditions holds", () => {
      const routes = [
        prefix("all", "/", {
          method: "GET",
          headers: [
            { name: "x-a", type: "exact", value: "1" },
            { name: "x-b", type: "regex", value: "^b" },
          ],
          query: [{ name: "q", type: "regex", value: "^[0-9]+$" }],
        }),
      ];
      const headers = ["X-A", "1", "X-B", "bcd"];
      expect(winner(routes, request("/", { headers: Fields.of(headers), query: "?q=12" }))).to.equal("all");
      expect(winner(routes, request("/", { headers: Fields.of(headers), query: "?q=x" }))).to.equal(
        undefined,
      );
      expect(
        winner(routes, request("/", { headers: Fields.of(headers.slice(0, 2)), query: "?q=1" })),
      ).to.equal(undefined);
      expect(
        winner(routes, request("/", { headers: Fields.of(headers), query: "?q=1", method: "HEAD" })),
      ).to.equal(undefined);
    });

    it("methods are compared with case, header names without", () => {
      expect(winner([prefix("r", "/", { method: "GET" })], request("/", { method: "get" }))).to.equal(
        undefined,
      );
      const header = { name: "X-Version", type: "exact", value: "a" } as const;
      expect(
        winner(
          [prefix("r", "/", { headers: [header] })],
          request("/", { headers: Fields.of(["x-version", "a"]) }),
        ),
      ).to.equal("r");
      expect(
        winner(
          [prefix("r", "/", { headers: [header] })],
          request("/", { headers: Fields.of(["x-version", "A"]) }),
        ),
      ).to.equal(undefined);
    });

    it("an absent header matches no regex, not even one that matches the empty text", () => {
      const headers = [{ name: "x-a", type: "regex", value: ".*" }] as const;
      expect(winner([prefix("r", "/", { headers })], request("/"))).to.equal(undefined);
      expect(
        winner([prefix("r", "/", { headers })], request("/", { headers: Fields.of(["x-a", ""]) })),
      ).to.equal("r");
    });
  });

  it("a route with an invalid regex is left out, and its neighbours are served", () => {
    const bad = { headers: [{ name: "x", type: "regex", value: "(" }] } as const;
    const { table, problems } = compileHostTable(
      { group: "ingress", host: pattern("example.com") },
      hostCase("example.com", [
        regex("bad-path", "("),
        prefix("bad-header", "/", bad),
        prefix("bad-query", "/", { query: bad.headers }),
        prefix("good", "/"),
      ]),
      prepared,
    );
    expect(problems.map(({ routeId }) => routeId)).to.deep.equal(["bad-path", "bad-header", "bad-query"]);
    expect(problems[1]?.message).to.include("header x");
    expect(problems[2]?.message).to.include("query x");
    expect(table.match(request("/"))?.id).to.equal("good");
    expect(table.candidates.map((candidate) => candidate.route.id)).to.deep.equal(["good"]);
  });

  describe("regex matches that cost too much together", () => {
    const long = `/${"ab".repeat(4000)}`;
    const costly = regex("costly", "/.*a.{900}z$");

    it("a request whose regex matches cost too much gets no route, even where a later one would match", () => {
      expect(winner([costly, prefix("default", "/b")], request("/short"))).to.equal(undefined);
      const fallback: Route = { ...prefix("default", "/"), fallback: true };
      expect(winner([costly, fallback], request("/short"))).to.equal("default");
      expect(isOverspent()).to.equal(false);
      // One of them is affordable, two are not.
      expect(winner([costly, fallback], request(long))).to.equal("default");
      expect(winner([costly, costly, fallback], request(long))).to.equal(undefined);
      expect(isOverspent()).to.equal(true);
    });

    it("the cost of regex matches on header values counts as well", () => {
      const headers = [{ name: "x-a", type: "regex", value: "a.{900}z$" }] as const;
      const routes = [prefix("guarded", "/a", { headers }), prefix("open", "/")];
      const sent = (length: number): RouteQuery =>
        request("/a", { headers: Fields.of(["x-a", "a".repeat(length)]) });
      expect(winner(routes, sent(1_000))).to.equal("open");
      expect(winner(routes, sent(20_000))).to.equal(undefined);
    });

    it("the cost of one request's regex matches does not count for the next", () => {
      const table = hostTable(hostCase("example.com", [costly, costly, prefix("short", "/short")]));
      expect(table.match(request(long))).to.equal(undefined);
      expect(table.match(request("/short"))?.id).to.equal("short");
    });
  });

  it("a very long path is not searched beyond the longest prefix", () => {
    const path = "/a".repeat(8000);
    expect(winner([prefix("short", "/a"), prefix("other", "/b/b/b")], request(path))).to.equal("short");
  });
});
