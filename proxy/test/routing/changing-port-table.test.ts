import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import { expect } from "chai";
import fc from "fast-check";
import type { HostTable } from "../../src/routing/host-table.ts";
import {
  ChangingPortTable,
  emptyPortTable,
  type OpenPortTable,
  PortChanges,
} from "../../src/routing/changing-port-table.ts";
import {
  exact,
  hostCase,
  hostTable,
  pattern,
  portTable,
  prefix,
  request,
  setHost,
  type HostCase,
} from "./support.ts";

const winner = (hosts: readonly HostCase[], host: string, path = "/"): string | undefined =>
  portTable(hosts).match(request(path, { host }))?.id;

const gateway = { group: "gateway" } as const;
const inheriting = { group: "gateway", inherit: true } as const;

describe("a port table", () => {
  it("an empty port table has no route for any request", () => {
    expect(emptyPortTable.match(request("/"))).to.equal(undefined);
  });

  it("an exact host is preferred to the longest wildcard, and wildcards to any host", () => {
    const hosts = [
      hostCase("*", [prefix("any", "/")], gateway),
      hostCase("*.com", [prefix("com", "/")], gateway),
      hostCase("*.example.com", [prefix("example", "/")], gateway),
      hostCase("a.example.com", [prefix("exact", "/")], gateway),
    ];
    expect(winner(hosts, "a.example.com")).to.equal("exact");
    expect(winner(hosts, "b.example.com")).to.equal("example");
    expect(winner(hosts, "example.com")).to.equal("com");
    expect(winner(hosts, "example.org")).to.equal("any");
    expect(winner(hosts, "")).to.equal("any");
    expect(winner(hosts, "[::1]")).to.equal("any");
  });

  it("a wildcard host covers one label in an Ingress, and one or more in the Gateway API", () => {
    const ingress = [hostCase("*.example.com", [prefix("i", "/")])];
    expect(winner(ingress, "a.example.com")).to.equal("i");
    expect(winner(ingress, "b.a.example.com")).to.equal(undefined);
    expect(winner(ingress, "example.com")).to.equal(undefined);
    expect(winner(ingress, ".example.com")).to.equal(undefined);
    const both = [...ingress, hostCase("*.example.com", [prefix("g", "/")], gateway)];
    expect(winner(both, "b.a.example.com")).to.equal("g");
    expect(winner(both, "example.com")).to.equal(undefined);
    expect(winner(both, ".example.com")).to.equal(undefined);
  });

  it("a host of the Gateway API is preferred to one of an Ingress at equal specificity only", () => {
    const hosts = [
      hostCase("a.example.com", [prefix("ingress-exact", "/")]),
      hostCase("*.example.com", [prefix("gateway-wildcard", "/")], gateway),
      hostCase("*.example.com", [prefix("ingress-wildcard", "/")]),
    ];
    expect(winner(hosts, "a.example.com")).to.equal("ingress-exact");
    expect(winner(hosts, "b.example.com")).to.equal("gateway-wildcard");
    const exactHosts = [...hosts, hostCase("a.example.com", [prefix("gateway-exact", "/")], gateway)];
    expect(winner(exactHosts, "a.example.com")).to.equal("gateway-exact");
  });

  it("the most specific host answers alone, even when nothing matches there", () => {
    const hosts = [hostCase("a.example.com", [exact("a", "/a")]), hostCase("*", [prefix("any", "/")])];
    expect(winner(hosts, "a.example.com", "/b")).to.equal(undefined);
    expect(winner(hosts, "b.example.com", "/b")).to.equal("any");
  });

  it("a host that inherits passes requests on to less specific hosts of its listener, past hosts of others", () => {
    const hosts = [
      hostCase("a.example.com", [exact("a", "/a")], { ...inheriting, listener: "l1" }),
      hostCase("a.example.com", [prefix("ingress", "/")]),
      hostCase("*.example.com", [prefix("other", "/")], { ...inheriting, listener: "l2" }),
      hostCase("*.com", [exact("com", "/com")], { ...inheriting, listener: "l1" }),
      hostCase("*", [prefix("any", "/")], { ...inheriting, listener: "l1" }),
    ];
    expect(winner(hosts, "a.example.com", "/a")).to.equal("a");
    expect(winner(hosts, "a.example.com", "/com")).to.equal("com");
    expect(winner(hosts, "a.example.com", "/b")).to.equal("any");
    expect(winner(hosts, "b.example.com", "/b")).to.equal("other");
  });

  it("paths are normalised at the level of the most specific host", () => {
    const level = (hosts: readonly HostCase[], host: string) => portTable(hosts).pathLevel(host);
    const hosts = [
      hostCase("a.example.com", [], { pathLevel: "merge-slashes" }),
      hostCase("*.example.com", [], { pathLevel: "decode-and-merge-slashes" }),
      hostCase("b.example.com", []),
    ];
    expect(level(hosts, "a.example.com")).to.equal("merge-slashes");
    expect(level(hosts, "b.example.com")).to.equal("base");
    expect(level(hosts, "c.example.com")).to.equal("decode-and-merge-slashes");
    expect(level(hosts, "example.org")).to.equal("base");
    expect(level([...hosts, hostCase("a.example.com", [], gateway)], "a.example.com")).to.equal("base");
    expect(level([hostCase("*", [], { pathLevel: "merge-slashes" })], "")).to.equal("merge-slashes");
    expect(level([hostCase("a.example.com", [])], "a.example.com")).to.equal("base");
    expect(emptyPortTable.pathLevel("a.example.com")).to.equal("base");
  });

  it("rule paths are compared in the form in which requests of their host arrive", () => {
    const decoding = hostCase("*", [exact("e", "/a%2Fb"), prefix("p", "/c%5cd")], {
      pathLevel: "decode-and-merge-slashes",
    });
    expect(winner([decoding], "", "/a/b")).to.equal("e");
    expect(winner([decoding], "", "/c/d/e")).to.equal("p");
    expect(winner([hostCase("*", [exact("e", "/a%2Fb")])], "", "/a/b")).to.equal(undefined);
  });

  it("the search stops at a host of the listener that does not inherit", () => {
    const hosts = [
      hostCase("a.example.com", [], inheriting),
      hostCase("*.example.com", [exact("w", "/w")], gateway),
      hostCase("*", [prefix("any", "/")], gateway),
    ];
    expect(winner(hosts, "a.example.com", "/w")).to.equal("w");
    expect(winner(hosts, "a.example.com", "/b")).to.equal(undefined);
  });

  it("a request is misdirected when its connection belongs to another listener (Gateway API, hostname of a listener)", () => {
    const of = (name: string): Partial<HostCase> => ({ ...inheriting, listener: `ns/gw/${name}` });
    const table = portTable([
      hostCase("*", [], of("any")),
      hostCase("example.org", [prefix("a", "/")], of("any")),
      hostCase("second.org", [], of("second")),
      hostCase("*.wild.org", [], of("wild")),
      hostCase("fourth.wild.org", [], of("fourth")),
      hostCase("ingress.org", [prefix("i", "/")]),
    ]);
    const rows: readonly (readonly [string, string, boolean])[] = [
      ["example.org", "second.org", true],
      ["example.org", "unknown.org", false],
      ["unknown.org", "example.org", false],
      ["second.org", "example.org", true],
      ["second.org", "unknown.org", true],
      ["third.wild.org", "fifth.wild.org", false],
      ["third.wild.org", "fourth.wild.org", true],
      ["fourth.wild.org", "fifth.wild.org", true],
      ["ingress.org", "second.org", true],
      // Hosts of Ingresses are served over every connection of their port.
      ["second.org", "ingress.org", false],
    ];
    for (const [serverName, host, expected] of rows) {
      expect(table.isMisdirected(serverName, host), `${serverName} ${host}`).to.equal(expected);
    }
  });

  it("a port table looks for listener filters only while one of its hosts has some", () => {
    expect(portTable([hostCase("*", [prefix("a", "/")], gateway)]).filtersOf).to.equal(undefined);
    const filters = { written: [{}], compiled: [{ slug: "listener-filters" }] };
    const of = (host: string, table: Partial<HostTable>) => ({
      host,
      table: Object.assign(hostTable(hostCase(host, [], gateway)), table),
    });
    const hosts = [of("*.example.com", { filters }), of("open.example.com", {}), of("*", {})];
    const ofPort = new ChangingPortTable();
    for (const { host, table } of hosts) setHost(ofPort, "gateway", host, table);
    setHost(ofPort, "ingress", "ingress.example.com", hostTable(hostCase("ingress.example.com", [])));
    const { filtersOf } = ofPort;
    expect(filtersOf?.("a.example.com")).to.equal(filters.compiled);
    for (const host of ["open.example.com", "ingress.example.com", "example.com"]) {
      expect(filtersOf?.(host), host).to.equal(undefined);
    }
    setHost(ofPort, "gateway", "*.example.com", undefined);
    expect(ofPort.filtersOf).to.equal(undefined);
  });

  it("a port table answers by changes from the moment of the switch, after each step of settling and after that", () => {
    const names = ["a.example.com", "b.example.com", "*.example.com", "*.com", "*"];
    const asked = ["a.example.com", "b.example.com", "c.example.com", "x.c.example.com", "other.org"];
    const groups = ["gateway", "ingress"] as const;
    const oneChange = fc.record({
      group: fc.constantFrom(...groups),
      host: fc.constantFrom(...names),
      isRemoved: fc.boolean(),
      inherit: fc.boolean(),
      hasClients: fc.boolean(),
    });
    const keyOf = ({ group, host }: { readonly group: string; readonly host: string }): string =>
      `${group} ${host}`;
    const oneSet = fc.uniqueArray(oneChange, { maxLength: 6, selector: keyOf });
    fc.assert(
      fc.property(fc.array(oneSet, { maxLength: 6 }), (sets) => {
        const ofPort = new ChangingPortTable();
        const wanted = new Map<
          string,
          { readonly group: RouteGroup; readonly host: string; readonly table: HostTable }
        >();
        const look = (table: OpenPortTable): unknown =>
          asked.map((host) => [
            table.match(request("/", { host }))?.id,
            table.clientRulesOf?.(host),
            table.groupOf(host),
          ]);
        let number = 0;
        for (const set of sets) {
          let steps = 0;
          const changes = new PortChanges(ofPort);
          const changed = set.map(({ group, host, isRemoved, inherit, hasClients }) => {
            const routes = [prefix(`route ${number}`, number % 3 === 0 ? "/elsewhere" : "/")];
            const rest = {
              group,
              inherit,
              listener: "ns/gw/http",
              ...(hasClients && { clients: { owner: `owner ${number}` } }),
            };
            const table = isRemoved ? undefined : hostTable(hostCase(host, routes, rest));
            number++;
            changes.set(group, pattern(host), table);
            // So many that a step ends between two changes.
            for (let other = 0; other < 32; other++) {
              const kind = host.startsWith("*") ? "wildcard" : "exact";
              changes.set(group, { kind, host: `*.${number}-${other}.other` }, undefined);
            }
            return { group, host, table };
          });
          const before = look(fresh(wanted.values()));
          expect(look(ofPort)).to.deep.equal(before);
          for (const { group, host, table } of changed) {
            if (table === undefined) wanted.delete(keyOf({ group, host }));
            else wanted.set(keyOf({ group, host }), { group, host, table });
          }
          const after = look(fresh(wanted.values()));
          ofPort.switchTo(changes);
          expect(look(ofPort)).to.deep.equal(after);
          expect(ofPort.isEmpty).to.equal(wanted.size === 0);
          for (const settling = ofPort.settle(); settling.next().done !== true; steps++) {
            expect(look(ofPort)).to.deep.equal(after);
          }
          expect(steps).to.be.at.least(changed.length);
          expect(look(ofPort)).to.deep.equal(after);
        }
      }),
    );
  });
});

/** A table with these hosts, made one by one. */
function fresh(
  hosts: Iterable<{ readonly group: RouteGroup; readonly host: string; readonly table: HostTable }>,
): OpenPortTable {
  const table = new ChangingPortTable();
  for (const one of hosts) setHost(table, one.group, one.host, one.table);
  return table;
}
