import { expect } from "chai";
import { explainIngresses, type IngressCase } from "./explained.ts";

const aliased = (names: string, more: IngressCase = {}): IngressCase => ({
  annotations: { "server-alias": names },
  paths: ["Prefix /"],
  ...more,
});

describe("server-alias of ingress-nginx", () => {
  it("an alias serves what all Ingresses of the host serve, with their features", async () => {
    const { ask, codes } = await explainIngresses([
      aliased("alias.example, Second.example"),
      { name: "other", namespace: "other", paths: ["Prefix /other"] },
      { annotations: { "force-ssl-redirect": "true" }, paths: ["Prefix /secure"] },
    ]);
    for (const host of ["a.example", "alias.example", "second.example"]) {
      expect(ask(`http://${host}/x`), host).to.include({ target: "/x", route: "shop/i0:0.0" });
      expect(ask(`http://${host}/other`), host).to.include({ route: "other/other:0.0" });
      expect(ask(`http://${host}/secure`), host).to.include({ location: `https://${host}/secure` });
    }
    expect(codes).to.deep.equal([]);
  });

  it("a name with a rule is no alias, even if the rule is newer", async () => {
    const { ask, codes } = await explainIngresses([
      aliased("b.example"),
      { name: "rule", namespace: "other", host: "b.example", paths: ["Prefix /b"] },
    ]);
    expect(ask("http://b.example/b")).to.include({ route: "other/rule:0.0" });
    expect(ask("http://b.example/x")).to.deep.equal({ status: 404, route: "other/rule:rest" });
    expect(codes).to.deep.equal(["AliasTaken shop/i0"]);
  });

  it("the older of two Ingresses has an alias that both want", async () => {
    const { ask, codes } = await explainIngresses([
      aliased("alias.example", { name: "young", host: "z.example", day: 9 }),
      aliased("alias.example", { name: "old", namespace: "other", day: 2 }),
    ]);
    expect(ask("http://alias.example/")).to.include({ route: "other/old:0.0" });
    expect(codes).to.deep.equal(["AliasTaken shop/young"]);
  });

  it("only the namespace that owns a host gives it further names, and a host of its own still gets them", async () => {
    const wants = { "server-alias": "alias.example, *.a.example", "from-to-www-redirect": "true" };
    const { ask, codes, findings } = await explainIngresses([
      { namespace: "owner", paths: ["Prefix /"] },
      {
        name: "guest",
        namespace: "guest",
        annotations: wants,
        rules: { "a.example": ["Prefix /guest"], "guest.example": ["Prefix /own"] },
      },
    ]);
    expect(ask("http://a.example/guest")).to.include({ route: "guest/guest:0.0" });
    expect(ask("http://x.a.example/")).to.deep.equal({ status: 404 });
    expect(ask("http://www.a.example/")).to.deep.equal({ status: 404 });
    expect(ask("http://alias.example/own")).to.include({ route: "guest/guest:1.0" });
    expect(ask("http://alias.example/guest")).to.include({ status: 404 });
    expect(ask("http://www.guest.example/")).to.include({ status: 308, location: "http://guest.example" });
    expect(codes.toSorted()).to.deep.equal([
      "AliasTaken guest/guest",
      "HostWideNotYours guest/guest",
      "HostWideNotYours guest/guest",
    ]);
    expect(findings.map(({ message }) => message).join("\n"))
      .to.match(/server-alias has no effect on host a\.example, which belongs to namespace owner/)
      .and.match(/from-to-www-redirect has no effect on host a\.example, which belongs to namespace owner/)
      .and.match(/Host \*\.a\.example belongs to Ingress owner\/i0/);
  });

  it("a younger Ingress of the namespace that owns the host gives it further names", async () => {
    const { ask, codes } = await explainIngresses([
      { paths: ["Prefix /"] },
      { namespace: "other", paths: ["Prefix /other"] },
      aliased("alias.example", { paths: ["Prefix /young"] }),
    ]);
    expect(ask("http://alias.example/other")).to.include({ route: "other/i1:0.0" });
    expect(codes).to.deep.equal([]);
  });

  it("a wildcard alias covers one label, and only below a host of the Ingress", async () => {
    const { ask, codes } = await explainIngresses([aliased("*.a.example, *.foreign.example, *.b.a.example")]);
    expect(ask("http://x.a.example/y")).to.include({ target: "/y" });
    expect(ask("http://x.b.a.example/y")).to.include({ target: "/y" });
    expect(ask("http://x.y.a.example/")).to.deep.equal({ status: 404 });
    expect(ask("http://x.foreign.example/")).to.deep.equal({ status: 404 });
    expect(codes).to.deep.equal(["AliasTaken shop/i0"]);
  });

  it("a regex is refused, and the other names are served", async () => {
    const { ask, codes } = await explainIngresses([aliased("~^.*\\.example$,alias.example")]);
    expect(ask("http://alias.example/x")).to.include({ target: "/x" });
    expect(ask("http://any.example/x")).to.deep.equal({ status: 404 });
    expect(codes).to.deep.equal(["AliasExpression shop/i0"]);
  });

  it("the oldest Ingress with aliases decides about those of a host", async () => {
    const { ask } = await explainIngresses([
      aliased("one.example"),
      aliased("two.example", { paths: ["Prefix /b"] }),
    ]);
    expect(ask("http://one.example/b")).to.include({ route: "shop/i1:0.0" });
    expect(ask("http://two.example/b")).to.deep.equal({ status: 404 });
  });

  it("an alias of an Ingress with several hosts serves what all of them serve", async () => {
    const { ask, codes } = await explainIngresses([
      aliased("alias.example", { rules: { "b.example": ["Prefix /b"], "a.example": ["Prefix /a"] } }),
      { name: "of-a", namespace: "other", host: "a.example", paths: ["Prefix /more"] },
      { name: "of-b", namespace: "other", host: "b.example", paths: ["Prefix /less"] },
    ]);
    expect(ask("http://alias.example/a")).to.include({ target: "/a" });
    expect(ask("http://alias.example/more")).to.include({ route: "other/of-a:0.0" });
    for (const path of ["/b", "/less"]) {
      expect(ask(`http://alias.example${path}`), path).to.include({ target: path });
      expect(ask(`http://b.example${path}`), path).to.include({ target: path });
    }
    expect(codes).to.deep.equal([]);
  });

  it("an alias of a host with regexes has the same order and app root", async () => {
    const annotations = { "server-alias": "alias.example", "use-regex": "true", "app-root": "/start" };
    const { ask } = await explainIngresses([{ annotations, paths: ["/Api.*", "/"] }]);
    expect(ask("http://alias.example/api/x")).to.include({ route: "shop/i0:0.0" });
    expect(ask("http://alias.example/")).to.include({ location: "http://alias.example/start" });
  });
});
