import { expect } from "chai";
import { rewriteTargetFilter } from "../../src/filters/rewrite-target.ts";
import { exchange } from "./support.ts";

describe("the rewrite-target filter", () => {
  it("rewrite-target: a full path replaces the path, and nothing else", () => {
    const under = exchange();
    under.path = "/shop/cart";
    under.matchedPath = "/shop/cart";
    under.query = "?item=1";
    const filter = rewriteTargetFilter({ path: { type: "full", value: "/app/$1" } });
    expect(filter.onRequest?.(under)).to.equal(undefined);
    expect(under).to.include({ path: "/app/$1", matchedPath: "/shop/cart", query: "?item=1" });
  });

  it("rewrite-target: the host is replaced, alone or with the path", () => {
    const under = exchange();
    under.path = under.matchedPath = "/shop/cart";
    const { onRequest } = rewriteTargetFilter({ hostname: "inner.example" });
    expect(onRequest?.(under)).to.equal(undefined);
    expect(under).to.include({ path: "/shop/cart", upstreamAuthority: "inner.example" });
  });

  describe("of a prefix", () => {
    for (const [path, prefix, value, expected] of [
      ["/shop/cart", "/shop", "/v2", "/v2/cart"],
      ["/shop", "/shop", "/v2", "/v2"],
      ["/shop/cart", "/shop", "", "/cart"],
      ["/shop/", "/shop", "", "/"],
      ["/shop", "/shop", "", "/"],
      ["/cart", "", "/v2", "/v2/cart"],
      ["/", "", "/v2", "/v2/"],
    ] as const) {
      it(`rewrite-target: ${path} with prefix "${prefix}" replaced by "${value}" becomes ${expected}`, () => {
        const under = exchange();
        under.path = under.matchedPath = path;
        const { onRequest } = rewriteTargetFilter({ path: { type: "prefix", prefix, value } });
        expect(onRequest?.(under)).to.equal(undefined);
        expect(under.path).to.equal(expected);
      });
    }
  });

  describe("of a match", () => {
    const rewrite = (matchedPath: string, pattern: string, value: string) => {
      const under = exchange();
      under.path = under.matchedPath = matchedPath;
      const reply = rewriteTargetFilter({ path: { type: "replace", value, pattern } }).onRequest?.(under);
      return reply ?? under.path;
    };

    for (const [path, pattern, value, expected] of [
      ["/v1/users/7", "/v1/", "/v2/", "/v2/users/7"],
      ["/a/b/a", "a", "x", "/x/b/a"],
      ["/users/7", "/users/([0-9]+)", "/people/$1/of/$2", "/people/7/of/"],
      ["/other", "/users/", "/people/", "/other"],
      ["/a", "^/a$", "/b", "/b"],
      ["/api", "^/api", "", "/"],
      ["/api/cart", "^/api/(.*)$", "$1", "/cart"],
      ["/a/b", "^/a", "b", "/b/b"],
    ] as const) {
      it(`rewrite-target: ${path} with the match of ${pattern} replaced by "${value}" becomes ${expected}`, () =>
        expect(rewrite(path, pattern, value)).to.equal(expected));
    }

    it("rewrite-target: a replacement that leaves no canonical path gets 400", () => {
      for (const [path, pattern, value] of [
        ["/a/x/b", "x", ".."],
        ["/a%2Fb", "2", "4"],
      ] as const) {
        expect(rewrite(path, pattern, value), value).to.have.property("status", 400);
      }
    });
  });

  describe("with groups", () => {
    const rewrite = (matchedPath: string, pattern: string, value: string) => {
      const under = exchange();
      under.path = matchedPath;
      under.matchedPath = matchedPath;
      const reply = rewriteTargetFilter({ path: { type: "expand", value, pattern } }).onRequest?.(under);
      return reply ?? under.path;
    };

    for (const [path, pattern, value, expected] of [
      ["/users/7/photos", "/users/([0-9]+)/(.*)$", "/$2/of/$1", "/photos/of/7"],
      ["/a/b", "/(a)/(b)", "/$1$2$1", "/aba"],
      ["/a", "/(a)", "/$1/$2/$99999999999999999999", "/a//"],
      ["/a", "/(a)|/(b)", "/x$2", "/x"],
      ["/a", "/(a)", "/$0/$$1/$x/$01", "/$0/$a/$x/$01"],
      ["/abcdefghijk", "/(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)", "/$11$1", "/ka"],
      ["/pre/a/b/post", "/a/(.)", "/$1", "/b"],
      ["/a%2Fb", "/(.*)", "/x/$1", "/x/a%2Fb"],
      ["/a", "/(a)", "/%7E/./$1", "/~/a"],
      ["/api/users", "/api(/.*)", "$1", "/users"],
      ["/api/users", "/api(/.*)", "/v2$1", "/v2/users"],
      ["/api/users", "/api/(.*)", "$1/x", "/users/x"],
      ["/a", "/(b)?a", "$1", "/"],
    ] as const) {
      it(`rewrite-target: ${path} matched by ${pattern} and expanded to ${value} becomes ${expected}`, () =>
        expect(rewrite(path, pattern, value)).to.equal(expected));
    }

    it("rewrite-target: a path whose groups form a dot segment or half an escape gets 400", () => {
      for (const [path, pattern] of [
        ["/files../secret", "/files(.*)"],
        ["/files.", "/files(.*)"],
        ["/a%2Fb", "/a(%.)"],
      ] as const) {
        expect(rewrite(path, pattern, "/safe/$1"), path).to.include({ status: 400 });
      }
    });

    it("rewrite-target: a path that takes too long to match, or grows too long, gets 414", () => {
      const long = `/${"a".repeat(8000)}`;
      expect(rewrite(long, "(.{1,100}){1,10}$", "/$1")).to.include({ status: 414 });
      expect(rewrite(long, "/(.*)", "/$1".repeat(9))).to.include({ status: 414 });
      expect(rewrite(long, "/(.*)", "/$1".repeat(8)))
        .to.be.a("string")
        .with.lengthOf(8 * 8001);
    });
  });

  describe("with groups of the decoded path", () => {
    const rewrite = (matchedPath: string, pattern: string, value: string, forwardedPrefix?: string) => {
      const under = exchange({ headers: ["X-Forwarded-Prefix", "/client", "A", "b"] });
      under.path = matchedPath;
      under.matchedPath = matchedPath;
      const path = { type: "expand", value, pattern, matchPath: "decoded" } as const;
      const filter = rewriteTargetFilter({ path, ...(forwardedPrefix !== undefined && { forwardedPrefix }) });
      const reply = filter.onRequest?.(under);
      return reply ?? { path: under.path, headers: under.headers.toList() };
    };
    const pathOf = (...given: Parameters<typeof rewrite>): unknown => {
      const result = rewrite(...given);
      return "path" in result ? result.path : result;
    };

    for (const [path, pattern, value, expected] of [
      ["/a%2Fb", "(?i)^/(.*)", "/x/$1", "/x/a/b"],
      ["/API/caf%C3%A9%20x", "(?i)^/api/(.*)", "/$1", "/caf%C3%A9%20x"],
      ["/100%25", "(?i)^/(.*)", "/$1", "/100%25"],
      ["/a%3Fb%23c", "(?i)^/(.*)", "/$1", "/a%3Fb%23c"],
      ["/a//b", "(?i)^/(.*)", "/x/$1", "/x/a/b"],
      ["/console/x", "(?i)^/console(/.*)?", "$1", "/x"],
      ["/console", "(?i)^/console(/.*)?", "$1", "/"],
      ["/ab", "(?i)^/(a)(b)", "/${1}2$2", "/a2b"],
      ["/foo/bar", "(?i)^/foo(/|$)(.*)", "/$2", "/bar"],
      ["/foo", "(?i)^/foo(/|$)(.*)", "/$2", "/"],
      ["/x%0d%0ay", "(?i)^/x(?s:(.*))", "/$1", "/%0D%0Ay"],
    ] as const) {
      it(`rewrite-target: the decoded form of ${path} matched by ${pattern} and expanded to ${value} becomes ${expected}`, () =>
        expect(pathOf(path, pattern, value)).to.equal(expected));
    }

    it("rewrite-target: decoded groups that form a dot segment get 400", () => {
      expect(rewrite("/files..%2Fsecret", "(?i)^/files(.*)", "/safe/$1")).to.include({ status: 400 });
    });

    it("rewrite-target: X-Forwarded-Prefix replaces that of the client, with encoded groups", () => {
      expect(rewrite("/app%0d%0aX:y/z", "(?i)^(?s:(/app[^/]*))/(.*)", "/$2", "$1")).to.deep.equal({
        path: "/z",
        headers: ["A", "b", "X-Forwarded-Prefix", "/app%0D%0AX:y"],
      });
      const under = exchange({ headers: ["x-forwarded-prefix", "/client"] });
      const filter = rewriteTargetFilter({ path: { type: "full", value: "/" }, forwardedPrefix: "/app" });
      expect(filter.onRequest?.(under)).to.equal(undefined);
      expect(under.headers.toList()).to.deep.equal(["X-Forwarded-Prefix", "/app"]);
      expect(filter.ownedFields).to.deep.equal(["X-Forwarded-Prefix"]);
    });
  });
});
