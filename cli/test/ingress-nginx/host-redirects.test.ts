import { expect } from "chai";
import { explainIngresses, type IngressCase } from "./explained.ts";

const one = async (annotations: Readonly<Record<string, string>>, more: IngressCase = {}) =>
  await explainIngresses([{ annotations, paths: ["Prefix /"], ...more }]);

describe("redirects of ingress-nginx to a whole URL", () => {
  it("a redirect answers every request with its URL, on http and https, before everything else", async () => {
    const annotations = {
      "permanent-redirect": "https://new.example/place",
      "force-ssl-redirect": "true",
      "whitelist-source-range": "10.0.0.0/8",
    };
    const { ask } = await one(annotations);
    expect(ask("http://a.example/x?y=z")).to.include({ status: 301, location: "https://new.example/place" });
  });

  it("the code of a redirect is used from 300 on, and otherwise the default", async () => {
    const codes: readonly (readonly [string, string, number])[] = [
      ["permanent", "300", 300],
      ["permanent", "308", 308],
      ["permanent", "309", 301],
      ["permanent", "299", 301],
      ["permanent", "x", 301],
      ["temporal", "307", 307],
      ["temporal", "308", 302],
      ["temporal", "303", 303],
      ["temporal", "0", 302],
    ];
    for (const [kind, code, expected] of codes) {
      const { ask } = await one({
        [`${kind}-redirect`]: "https://new.example",
        [`${kind}-redirect-code`]: code,
      });
      expect(ask("http://a.example/").status, `${kind} ${code}`).to.equal(expected);
    }
  });

  it("a temporal redirect takes precedence over a permanent one", async () => {
    const { ask, codes } = await one({
      "permanent-redirect": "https://p.example",
      "temporal-redirect": "https://t.example",
      "permanent-redirect-code": "308",
    });
    expect(ask("http://a.example/")).to.include({ status: 302, location: "https://t.example" });
    expect(codes).to.deep.equal(["NoEffect shop/i0", "NoEffect shop/i0"]);
  });

  it("a URL of another scheme, a path and a text that is no URL redirect nothing", async () => {
    for (const url of ["ftp://new.example", "/new", "new.example", "https://a b"]) {
      const { ask, codes } = await one({ "permanent-redirect": url });
      expect(ask("http://a.example/x"), url).to.include({ target: "/x" });
      expect(codes, url).to.deep.equal(["InvalidAnnotation shop/i0"]);
    }
  });

  it("variables of the request are put into the URL, and unknown ones are invalid", async () => {
    const { ask } = await one({ "permanent-redirect": "https://new.example$request_uri" });
    expect(ask("http://a.example/x?y=z").location).to.equal("https://new.example/x?y=z");
    const { codes } = await one({ "permanent-redirect": "https://new.example$nothing" });
    expect(codes).to.deep.equal(["InvalidAnnotation shop/i0"]);
  });
});

describe("app-root of ingress-nginx", () => {
  it("app-root redirects exactly / of the host, with the Host of the client and without the query", async () => {
    const { ask, answer } = await one({ "app-root": "/app1" });
    expect(ask("http://a.example/?x=y")).to.include({ status: 302, location: "http://a.example/app1" });
    expect(ask("http://a.example//")).to.include({ status: 302 });
    expect(ask("http://a.example/app1")).to.include({ target: "/app1" });
    expect(answer("http://a.example/", "GET", ["Host: a.example:30080"]).reply.location).to.equal(
      "http://a.example:30080/app1",
    );
  });

  it("app-root precedes the redirect to https and the exact path /", async () => {
    const annotations = { "app-root": "/app1", "force-ssl-redirect": "true" };
    const { ask } = await one(annotations, { paths: ["Exact /", "Prefix /"] });
    expect(ask("http://a.example/")).to.include({ status: 302, location: "http://a.example/app1" });
    expect(ask("http://a.example/x")).to.include({ status: 308 });
  });

  it("app-root precedes regexes", async () => {
    const { ask } = await one({ "app-root": "/app1", "use-regex": "true" }, { paths: ["/.*"] });
    expect(ask("http://a.example/")).to.include({ status: 302 });
    expect(ask("http://a.example/x")).to.include({ target: "/x" });
  });

  it("relative-redirects leaves scheme and host out", async () => {
    const { ask } = await one({ "app-root": "/app1", "relative-redirects": "true" });
    expect(ask("http://a.example/").location).to.equal("/app1");
  });

  it("app-root of another namespace counts only with the path / of its own", async () => {
    const owner = { paths: ["Prefix /own"], namespace: "owner" };
    const guest = { namespace: "guest", name: "guest", annotations: { "app-root": "/guest" } };
    const without = await explainIngresses([owner, { ...guest, paths: ["Prefix /guest"] }]);
    expect(without.ask("http://a.example/")).to.deep.equal({ status: 404, route: "owner/i0:rest" });
    expect(without.codes).to.deep.equal(["HostWideNotYours guest/guest"]);
    for (const path of ["Prefix /", "Exact /"]) {
      const { ask, codes } = await explainIngresses([owner, { ...guest, paths: [path] }]);
      expect(ask("http://a.example/"), path).to.include({ status: 302, location: "http://a.example/guest" });
      expect(codes).to.deep.equal([]);
    }
  });

  it("app-root that is no absolute path is ignored", async () => {
    const { ask, codes } = await one({ "app-root": "https://a.example/x" });
    expect(ask("http://a.example/")).to.include({ target: "/" });
    expect(codes).to.deep.equal(["InvalidAnnotation shop/i0"]);
  });
});

describe("from-to-www-redirect of ingress-nginx", () => {
  const www = { "from-to-www-redirect": "true" };

  it("the name with www. is redirected to the host, or the other way round", async () => {
    const { ask } = await one(www);
    expect(ask("http://www.a.example/x/?y")).to.include({ status: 308, location: "http://a.example/x/?y" });
    expect(ask("http://www.a.example/x/")).to.include({ location: "http://a.example/x" });
    expect(ask("http://www.a.example/")).to.include({ location: "http://a.example" });
    expect(ask("http://a.example/x")).to.include({ target: "/x" });
    const other = await one(www, { host: "www.a.example" });
    expect(other.ask("http://a.example/x").location).to.equal("http://www.a.example/x");
  });

  it("a name with a rule of any Ingress keeps it", async () => {
    const { ask, codes } = await explainIngresses([
      { annotations: www, paths: ["Prefix /"] },
      { name: "taken", namespace: "other", host: "www.a.example", paths: ["Prefix /"] },
    ]);
    expect(ask("http://www.a.example/x").route).to.equal("other/taken:0.0");
    expect(codes).to.deep.equal(["AliasTaken shop/i0"]);
  });

  it("a wildcard host and a rule without a host have no further name", async () => {
    const { ask } = await explainIngresses([
      { annotations: www, rules: { "*.a.example": ["Prefix /"], "*": ["Prefix /any"] } },
    ]);
    expect(ask("http://www.x.example/y")).to.deep.equal({ status: 404 });
  });
});
