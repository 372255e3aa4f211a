import { expect } from "chai";
import type { L4Host } from "@svc-gateway/common/ir/l4.ts";
import { compileL4Table } from "../../src/l4/l4-table.ts";

const environment = {
  upstreamOf: () => () => {
    throw new Error("not asked");
  },
  random: () => 0,
};

const find = (hosts: readonly string[], name: string): string | undefined =>
  compileL4Table(
    {
      hosts: hosts.map((host): L4Host => ({
        kind: host === "*" ? "any" : host.startsWith("*.") ? "wildcard" : "exact",
        host,
        mode: "passthrough",
      })),
    },
    environment,
  ).find(name)?.host;

describe("the table of server names", () => {
  const hosts = ["a.example.com", "*.example.com", "*.com", "*"];

  it("the L4 table finds the most specific host that covers a server name", () => {
    expect(find(hosts, "a.example.com")).to.equal("a.example.com");
    expect(find(hosts, "b.example.com")).to.equal("*.example.com");
    expect(find(hosts, "x.y.example.com")).to.equal("*.example.com");
    expect(find(hosts, "example.com")).to.equal("*.com");
    expect(find(hosts, "example.org")).to.equal("*");
    expect(find(hosts, "")).to.equal("*");
  });

  it("the L4 table finds nothing for a server name that no host covers", () => {
    expect(find(["a.example.com", "*.example.com"], "example.com")).to.equal(undefined);
    expect(find(["*.example.com"], "")).to.equal(undefined);
    expect(find(["a.example.com"], "b.example.com")).to.equal(undefined);
  });
});
