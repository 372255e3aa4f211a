import { expect } from "chai";
import { explainMatch } from "../../src/routing/explain.ts";
import { exact, hostCase, portTable, prefix, regex, request } from "./support.ts";

describe("explainMatch", () => {
  it("an explanation names the first condition that each candidate fails, in the order of evaluation", () => {
    const table = portTable([
      hostCase("example.com", [
        regex("regex", "^/x"),
        prefix("root", "/"),
        prefix("post", "/a", { method: "POST" }),
        prefix("header", "/a", { headers: [{ name: "x-v", type: "exact", value: "2" }] }),
        prefix("query", "/a", { query: [{ name: "v", type: "regex", value: "^2$" }] }),
        prefix("other", "/a/c"),
        exact("exact", "/a"),
      ]),
    ]);
    const { route, hosts } = explainMatch(table, request("/a/b"));
    expect(route?.id).to.equal("root");
    expect(hosts).to.have.length(1);
    const rows = hosts[0]?.candidates.map(({ route: { id }, verdict }) => [id, verdict]);
    const failed = (on: string, type: string, value: string, name = ""): object => ({
      kind: "failed",
      on,
      name,
      type,
      value,
    });
    expect(rows).to.deep.equal([
      ["exact", failed("path", "exact", "/a")],
      ["other", failed("path", "prefix", "/a/c")],
      ["post", failed("method", "exact", "POST")],
      ["header", failed("header", "exact", "2", "x-v")],
      ["query", failed("query", "regex", "^2$", "v")],
      ["root", { kind: "matched" }],
      ["regex", failed("path", "regex", "^/x")],
    ]);
  });

  it("an explanation shows a shadowed route apart from one that does not match", () => {
    const table = portTable([
      hostCase("*", [prefix("first", "/"), prefix("second", "/"), regex("third", "/")]),
    ]);
    const [host] = explainMatch(table, request("/a")).hosts;
    expect(host?.candidates.map(({ verdict }) => verdict.kind)).to.deep.equal([
      "matched",
      "shadowed",
      "shadowed",
    ]);
  });

  it("an explanation lists a default backend last", () => {
    const fallback = { ...prefix("default", "/"), fallback: true as const };
    const table = portTable([hostCase("*", [fallback, regex("regex", "^/x"), prefix("p", "/p")])]);
    const [host] = explainMatch(table, request("/a")).hosts;
    expect(host?.candidates.map(({ route, verdict }) => [route.id, verdict.kind])).to.deep.equal([
      ["p", "failed"],
      ["regex", "failed"],
      ["default", "matched"],
    ]);
  });

  it("an explanation lists the hosts that were asked and those that were not", () => {
    const inheriting = { group: "gateway", inherit: true, listener: "l1" } as const;
    const table = portTable([
      hostCase("example.com", [exact("x", "/x")], inheriting),
      hostCase("example.com", [prefix("ingress", "/")]),
      hostCase("*.com", [prefix("com", "/")], inheriting),
      hostCase("*", [prefix("any", "/")], inheriting),
    ]);
    const { route, hosts } = explainMatch(table, request("/a"));
    expect(route?.id).to.equal("com");
    expect(hosts.map(({ table: { group, host }, outcome }) => [group, host.host, outcome])).to.deep.equal([
      ["gateway", "example.com", "no-match"],
      ["ingress", "example.com", "not-asked"],
      ["gateway", "*.com", "serves"],
      ["gateway", "*", "not-asked"],
    ]);
  });

  it("an explanation of a 404 shows no route", () => {
    const table = portTable([
      hostCase("example.com", [exact("x", "/x")]),
      hostCase("*", [prefix("any", "/")]),
    ]);
    const { route, hosts } = explainMatch(table, request("/a"));
    expect(route).to.equal(undefined);
    expect(hosts.map(({ outcome }) => outcome)).to.deep.equal(["no-match", "not-asked"]);
    expect(explainMatch(portTable([]), request("/"))).to.deep.equal({ route: undefined, hosts: [] });
  });
});
