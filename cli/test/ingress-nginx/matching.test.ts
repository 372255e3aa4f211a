import { expect } from "chai";
import { expectRoutes, explainIngresses } from "./explained.ts";

const regex = { "use-regex": "true" };

describe("paths of ingress-nginx", () => {
  it("a host without regexes has exact paths first, then the longest prefix by path elements", async () => {
    await expectRoutes([{ paths: ["Exact /foo", "Prefix /aaa", "/aaa/bbb", "Prefix /"] }], {
      "/foo": "i0:0.0",
      "/foo/": "i0:0.3",
      "/Foo": "i0:0.3",
      "/aaa": "i0:0.1",
      "/aaa/x": "i0:0.1",
      "/aaab": "i0:0.3",
      "/aaa/bbb/c": "i0:0.2",
      "/aaa//bbb": "i0:0.2",
      "/aaa%2Fbbb": "i0:0.2",
      "/x/..%2Faaa": "i0:0.1",
    });
  });

  it("one Ingress with use-regex makes all paths of the host regexes, open at the end and without case", async () => {
    const cases = [
      { paths: ["Exact /foo", "Prefix /bar", "/baz"] },
      { annotations: regex, paths: ["/id/[0-9]+", "/only$"] },
    ];
    await expectRoutes(cases, {
      "/foobar": "i0:0.0",
      "/FOO": "i0:0.0",
      "/bar": "i0:0.1",
      "/barista": "i0:0.1",
      "/Baz/x": "i0:0.2",
      "/ID/123a": "i1:0.0",
      "/x/id/1": 404,
      "/only": "i1:0.1",
      "/only/x": 404,
    });
  });

  it("use-regex false makes no path a regex, also beside other hosts with regexes", async () => {
    const cases = [
      { annotations: { "use-regex": "false" }, paths: ["Prefix /foo"] },
      { annotations: regex, host: "b.example", paths: ["/b.*"] },
    ];
    await expectRoutes(cases, { "/foo/x": "i0:0.0", "/foobar": 404, "/FOO": 404 });
  });

  it("the longest text is tried first, and texts of one length in reverse alphabetical order", async () => {
    const paths = ["/", "/api/v1", "/api(/|$)(.*)", "/a.*", "/b.*", "/.*"];
    await expectRoutes([{ annotations: regex, paths }], {
      "/api/v1/x": "i0:0.2",
      "/api/v2": "i0:0.2",
      "/apix": "i0:0.3",
      "/b": "i0:0.4",
      "/x": "i0:0.5",
    });
    await expectRoutes([{ annotations: regex, paths: ["/.a", "/b.", "/ba"] }], { "/ba": "i0:0.2" });
    await expectRoutes([{ annotations: regex, paths: ["/.a", "/b."] }], { "/ba": "i0:0.1" });
  });

  it("alternatives bind weaker than the beginning", async () => {
    await expectRoutes([{ annotations: regex, paths: ["/a|/b"] }], {
      "/a": "i0:0.0",
      "/x/b": "i0:0.0",
      "/x/a": 404,
    });
  });

  it("an exact path takes the place of the prefix without its slash", async () => {
    const cases = [
      { paths: ["Prefix /foo", "Exact /foo", "Prefix /foo/bar"] },
      { annotations: regex, paths: ["/x.*"] },
    ];
    await expectRoutes(cases, {
      "/foo": "i0:0.1",
      "/foo/x": "i0:0.0",
      "/foobar": "i0:0.1",
      "/foo/bar": "i0:0.2",
    });
  });

  it("a prefix of an Ingress that rewrites is one regex without a slash", async () => {
    const cases = [{ annotations: { "rewrite-target": "/x" }, paths: ["Prefix /foo", "Prefix /fo"] }];
    await expectRoutes(cases, { "/foobar": "i0:0.0", "/fo": "i0:0.1" });
  });

  it("a regex may have escapes and dots that would be segments of a path", async () => {
    const paths = ["/files\\/(.*)", "/\\.well-known/x", "/v1\\./y", "/dots/./x", "/api/", "/api"];
    await expectRoutes(
      [
        { annotations: regex, paths },
        { name: "other", paths: ["Prefix /other"] },
      ],
      {
        "/files/a": "i0:0.0",
        "/.well-known/x": "i0:0.1",
        "/v1./y": "i0:0.2",
        "/dots/a/x": "i0:0.3",
        "/api/x": "i0:0.4",
        "/api": "i0:0.5",
        "/other": "other:0.0",
      },
    );
    const { codes } = await explainIngresses([{ annotations: regex, paths }]);
    expect(codes).to.deep.equal([]);
  });

  it("a prefix with a slash at its end is the one without it, unless the host has regexes", async () => {
    const cases = [{ paths: ["/api/"] }, { name: "other", paths: ["/api", "/x"] }];
    await expectRoutes(cases, { "/api/x": "i0:0.0", "/api": "i0:0.0", "/x": "other:0.1" });
    const { codes } = await explainIngresses(cases);
    expect(codes).to.deep.equal(["RouteConflict shop/other"]);
    const withRegexes = [...cases, { name: "regex", annotations: regex, paths: ["/r.*"] }];
    await expectRoutes(withRegexes, { "/api/x": "i0:0.0", "/api": "other:0.0" });
    expect((await explainIngresses(withRegexes)).codes).to.deep.equal([]);
  });

  it("a named group is accepted", async () => {
    await expectRoutes([{ annotations: regex, paths: ["/(?<name>a+)/x"] }], {
      "/aa/x": "i0:0.0",
      "/b/x": 404,
    });
  });

  it("a path that RE2 cannot match is answered 503 below its literal beginning, and longer paths are served", async () => {
    const cases = [
      { annotations: regex, paths: ["/x/(?!y).*", "/x/long/enough/path", "/", "/z(?=a)"] },
      { paths: ["Prefix /x"] },
    ];
    await expectRoutes(cases, {
      "/x/y": 503,
      "/X/a/b": 503,
      "/x/long/enough/path": "i0:0.1",
      "/x": "i1:0.0",
      "/z": 503,
      "/y": "i0:0.2",
    });
    const { codes } = await explainIngresses(cases);
    expect(codes.filter((code) => code.startsWith("Unservable"))).to.deep.equal([
      "UnservableExpression shop/i0",
      "UnservableExpression shop/i0",
    ]);
  });

  it("a path that RE2 cannot match is answered 503 before everything else that its Ingress asks for", async () => {
    const annotations = { ...regex, "rewrite-target": "/$1", "permanent-redirect": "https://b.example/" };
    await expectRoutes([{ annotations, paths: ["/x/(?!y)(.*)"] }], { "/x/a": 503 });
  });

  it("regex characters in a typed path are a finding where the path is a regex", async () => {
    const paths = ["Prefix /a(/|$)(.*)", "Exact /b.c", "/d(.*)"];
    const { codes } = await explainIngresses([{ annotations: regex, paths }]);
    expect(codes).to.deep.equal(["ExpressionInPrefix shop/i0"]);
  });

  it("an Ingress of another class keeps its paths on a host with regexes", async () => {
    const cases = [
      { name: "nginx", annotations: regex, paths: ["/a.*"] },
      { name: "svc", className: "svc", paths: ["Prefix /Svc", "Exact /x"] },
    ];
    await expectRoutes(cases, {
      "/Svc/y": "svc:0.0",
      "/svc": 404,
      "/x": "svc:0.1",
      "/xy": 404,
      "/Ab": "nginx:0.0",
    });
  });

  it("an exact host answers for all of its paths, with or without a wildcard host beside it", async () => {
    const cases = [
      { name: "exact", paths: ["Prefix /a"] },
      { name: "wild", host: "*.example", paths: ["Prefix /"] },
    ];
    await expectRoutes(cases, { "/a": "exact:0.0", "/b": 404 });
  });
});
