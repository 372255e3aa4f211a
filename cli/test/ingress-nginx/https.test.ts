import { expect } from "chai";
import { explainIngresses, type IngressCase } from "./explained.ts";

const tls = [{ hosts: ["a.example"], secretName: "missing" }];
const one = async (
  annotations: Readonly<Record<string, string>> = {},
  more: IngressCase = { tls },
): ReturnType<typeof explainIngresses> =>
  await explainIngresses([{ annotations, paths: ["Prefix /"], ...more }]);

describe("the redirect of ingress-nginx to https", () => {
  it("a request without TLS for a host with TLS is redirected with 308, without the slash at its end", async () => {
    const { ask } = await one();
    for (const [path, location] of [
      ["/", "https://a.example"],
      ["/a/", "https://a.example/a"],
      ["/a/?b=c", "https://a.example/a/?b=c"],
      ["/a?b=/", "https://a.example/a?b="],
    ] as const) {
      expect(ask(`http://a.example${path}`), path).to.include({ status: 308, location });
    }
    expect(ask("http://a.example/a/", "POST")).to.include({ status: 308, location: "https://a.example/a" });
  });

  it("preserve-trailing-slash keeps the slash, and ssl-redirect: false redirects nothing", async () => {
    const kept = await one({ "preserve-trailing-slash": "true" });
    expect(kept.ask("http://a.example/a/").location).to.equal("https://a.example/a/");
    const off = await one({ "ssl-redirect": "false" });
    expect(off.ask("http://a.example/a/")).to.include({ target: "/a/" });
    const forced = await one({ "ssl-redirect": "false", "force-ssl-redirect": "true" });
    expect(forced.ask("http://a.example/a/").status).to.equal(308);
  });

  it("a host without TLS is redirected by force-ssl-redirect only", async () => {
    expect((await one({}, {})).ask("http://a.example/x")).to.include({ target: "/x" });
    expect((await one({ "force-ssl-redirect": "true" }, {})).ask("http://a.example/x").status).to.equal(308);
  });

  it("a redirect comes before address rules, and an Ingress that is closed answers 503 without TLS as well", async () => {
    const listed = await one({ "whitelist-source-range": "203.0.113.0/24" });
    expect(listed.ask("http://a.example/x").status).to.equal(308);
    const closed = await one({ "whitelist-source-range": "office" });
    expect(closed.ask("http://a.example/x").status).to.equal(503);
  });

  it("all paths of a host are redirected when any Ingress lists it, but not another Ingress's challenge of the same namespace", async () => {
    const { ask } = await explainIngresses([
      { paths: ["Prefix /"] },
      { paths: ["Prefix /other"], namespace: "blog", tls },
      { paths: ["/.well-known/acme-challenge/own"] },
      { paths: ["/.well-known/acme-challenge/foreign"], namespace: "blog" },
    ]);
    expect(ask("http://a.example/x").status).to.equal(308);
    expect(ask("http://a.example/other").status).to.equal(308);
    expect(ask("http://a.example/.well-known/acme-challenge/own").status).to.not.equal(308);
    expect(ask("http://a.example/.well-known/acme-challenge/foreign").status).to.equal(308);
  });

  it("an annotation of this gateway decides about the redirect", async () => {
    const { ask, codes } = await one({
      "force-ssl-redirect": "true",
      "ingress.svc-labs.dev/ssl-redirect": "false",
    });
    expect(ask("http://a.example/x")).to.include({ target: "/x" });
    expect(codes).to.include("AnnotationOverridden shop/i0");
  });
});
