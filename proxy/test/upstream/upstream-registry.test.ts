import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { expect } from "chai";
import fc from "fast-check";
import { breakerEnvironment, pickRequest } from "./balancing.ts";
import { createUpstreamRegistry } from "../../src/upstream/upstream-registry.ts";
import type { TlsChanges } from "../../src/upstream/tls/tls-store.ts";
import { atOnce } from "../../src/timing/steps.ts";
import type { Upstream, UpstreamEndpoint } from "../../src/upstream/upstream.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { authority } from "./tls/support.ts";

const request = pickRequest();

const set = (service: string, ...addresses: string[]): EndpointSet => ({
  service,
  resolve: "static",
  addresses: addresses.map((address) => {
    const colon = address.lastIndexOf(":");
    return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
  }),
});

function harness() {
  const retired: string[][] = [];
  const counts = new Map<string, number>();
  const registry = createUpstreamRegistry({
    retire: (endpoints) => retired.push(endpoints.map(({ address }) => address)),
    usableEndpoints: {
      set: (service, count) => counts.set(service, count),
      retain(isPresent) {
        for (const service of counts.keys()) if (!isPresent(service)) counts.delete(service);
      },
    },
    breakers: breakerEnvironment().environment,
    random: () => 0,
  });
  const update = (changes: Record<string, EndpointSet | undefined>) =>
    registry.update({ endpoints: new Map(Object.entries(changes)) });
  /** The gauge of usable endpoints as a scrape would see it. */
  const usable = (): Record<string, number> => {
    registry.refreshGauges();
    return Object.fromEntries(counts);
  };
  return { registry, update, retired, usable };
}

const picks = (upstream: Upstream, count: number): (string | undefined)[] =>
  Array.from({ length: count }, () => upstream.pick(request)?.endpoint.address);

describe("createUpstreamRegistry", () => {
  it("the registry returns one upstream per endpoint set and protocol", () => {
    const { registry, update } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80", "::1:80") });
    const upstream = registry.get("ns/web/http", "http1");
    expect(upstream).to.deep.include({ key: "ns/web/http", service: "ns/web", protocol: "http1" });
    expect(upstream.endpoints.map(({ host, port, address }) => [host, port, address])).to.deep.equal([
      ["10.0.0.1", 80, "10.0.0.1:80"],
      ["::1", 80, "[::1]:80"],
    ]);
    expect(registry.get("ns/web/http", "http1")).to.equal(upstream);
    const http2 = registry.get("ns/web/http", "http2");
    expect(http2.protocol).to.equal("http2");
    expect(http2.endpoints[0]).to.equal(upstream.endpoints[0]);
  });

  it("a set that names a protocol is spoken to over it, also where routes ask for another one", () => {
    const { registry, update } = harness();
    const plain = set("ns/web", "10.0.0.1:80");
    update({ "ns/web/http": { ...plain, protocol: "http2" } });
    expect(registry.get("ns/web/http", "http1").protocol).to.equal("http2");
    update({ "ns/web/http": plain });
    expect(registry.get("ns/web/http", "http1").protocol).to.equal("http1");
  });

  it("the upstream of an unknown endpoint set has no endpoint", () => {
    const upstream = harness().registry.get("ns/web/http", "http1");
    expect([upstream.service, upstream.endpoints, upstream.pick(request)]).to.deep.equal([
      "ns/web",
      [],
      undefined,
    ]);
  });

  it("the registry keeps one retry budget per Service port, for all protocols and through changes", () => {
    const { registry, update } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80"), "ns/web/admin": set("ns/web", "10.0.0.1:81") });
    const { retryBudget } = registry.get("ns/web/http", "http1");
    expect(registry.get("ns/web/http", "http2").retryBudget).to.equal(retryBudget);
    expect(registry.get("ns/web/admin", "http1").retryBudget).not.to.equal(retryBudget);
    update({ "ns/web/http": set("ns/web", "10.0.0.2:80") });
    expect(registry.get("ns/web/http", "http1").retryBudget).to.equal(retryBudget);
  });

  it("the registry keeps remaining endpoints, retires removed ones and continues the turn", () => {
    const { registry, update, retired } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80") });
    const before = registry.get("ns/web/http", "http1");
    expect(picks(before, 2)).to.deep.equal(["10.0.0.1:80", "10.0.0.2:80"]);
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80", "10.0.0.2:80", "10.0.0.4:80") });
    const after = registry.get("ns/web/http", "http1");
    expect(after.endpoints[1]).to.equal(before.endpoints[1]);
    expect(retired).to.deep.equal([["10.0.0.3:80"]]);
    expect(picks(after, 3)).to.deep.equal(["10.0.0.1:80", "10.0.0.2:80", "10.0.0.4:80"]);
  });

  it("an upstream picks an endpoint that was not tried while there is one", () => {
    const { registry, update } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80") });
    const upstream = registry.get("ns/web/http", "http1");
    const [one, two, three] = upstream.endpoints as [UpstreamEndpoint, UpstreamEndpoint, UpstreamEndpoint];
    for (let i = 0; i < 4; i++) {
      expect(upstream.pick(request, new Set([one, three]))?.endpoint).to.equal(two);
    }
    expect(upstream.pick(request, new Set([one, two, three]))?.endpoint).to.be.oneOf([one, two, three]);
  });

  it("the same address on another port is another endpoint", () => {
    const { registry, update, retired } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80") });
    const [before] = registry.get("ns/web/http", "http1").endpoints;
    update({ "ns/web/http": set("ns/web", "10.0.0.1:81") });
    expect(registry.get("ns/web/http", "http1").endpoints[0]).to.not.equal(before);
    expect(retired).to.deep.equal([["10.0.0.1:80"]]);
  });

  it("the registry retires all endpoints of a removed set, once", () => {
    const { registry, update, retired } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80", "10.0.0.2:80") });
    registry.get("ns/web/http", "http1");
    update({ "ns/web/http": undefined });
    update({ "ns/web/http": undefined });
    expect(retired).to.deep.equal([["10.0.0.1:80", "10.0.0.2:80"]]);
    expect(registry.get("ns/web/http", "http1").pick(request)).to.equal(undefined);
  });

  it("the registry retires nothing of a set that was never asked for", () => {
    const { update, retired } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80") });
    update({ "ns/web/http": set("ns/web", "10.0.0.2:80") });
    update({ "ns/web/http": undefined });
    expect(retired).to.deep.equal([]);
  });

  it("two sets with the same address are independent of each other", () => {
    const { registry, update, retired } = harness();
    update({ "ns/a/http": set("ns/a", "10.0.0.1:80"), "ns/b/http": set("ns/b", "10.0.0.1:80") });
    registry.get("ns/a/http", "http1");
    update({ "ns/a/http": undefined });
    expect(retired).to.deep.equal([["10.0.0.1:80"]]);
    expect(picks(registry.get("ns/b/http", "http1"), 1)).to.deep.equal(["10.0.0.1:80"]);
  });

  it("an address that a set lists twice is one endpoint", () => {
    const { registry, update, retired } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80") });
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80", "10.0.0.1:80") });
    expect(registry.get("ns/web/http", "http1").endpoints).to.have.length(1);
    expect(retired).to.deep.equal([]);
  });

  it("a set that belongs to another Service from now on counts as changed for those that follow it", () => {
    const { registry, update } = harness();
    update({ "ns/web/http": set("ns/web", "10.0.0.1:80") });
    const followed = registry.follow("ns/web/http");
    update({ "ns/web/http": set("ns/other", "10.0.0.1:80") });
    expect(followed?.changes).to.equal(1);
    expect(registry.follow("ns/web/http")).not.to.equal(followed);
    expect(registry.get("ns/web/http", "http1").service).to.equal("ns/other");
  });

  it("changed sets hold from their update on, whether or not and whenever the registry settles", () => {
    const names = ["ns/a/http", "ns/b/http", "ns/c/http"];
    const oneSet = fc
      .record({ service: fc.constantFrom("ns/one", "ns/two"), count: fc.nat({ max: 2 }) })
      .map(({ service, count }) => set(service, ...["10.0.0.1:80", "10.0.0.2:80"].slice(0, count)));
    const step = fc.record({
      changes: fc.dictionary(fc.constantFrom(...names), fc.option(oneSet, { nil: undefined })),
      /** Sets that are asked for before the next step, and how far the registry settles before and after it. */
      asked: fc.subarray(names),
      settles: fc.tuple(fc.constantFrom("no", "begins", "yes"), fc.constantFrom("no", "yes")),
      isScraped: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const { registry, update, usable } = harness();
        const present = new Map<string, EndpointSet>();
        const ask = (asked: readonly string[]): void => {
          for (const name of asked) {
            const wanted = (present.get(name)?.addresses ?? []).map(({ host, port }) => `${host}:${port}`);
            const upstream = registry.get(name, "http1");
            expect(upstream.endpoints.map(({ address }) => address)).to.have.members(wanted);
            expect(upstream.service).to.equal(present.get(name)?.service ?? "ns/" + name.charAt(3));
            expect(registry.follow(name) === undefined).to.equal(!present.has(name));
          }
        };
        for (const { changes, asked, settles, isScraped } of steps) {
          update(changes);
          for (const [name, value] of Object.entries(changes)) {
            if (value === undefined) present.delete(name);
            else present.set(name, value);
          }
          const settling = registry.settle();
          if (settles[0] === "begins") settling.next();
          if (settles[0] === "yes") atOnce(settling);
          ask(asked);
          if (isScraped) {
            const counts: Record<string, number> = {};
            for (const { service, addresses } of present.values())
              counts[service] = Math.max(counts[service] ?? 0, addresses.length);
            expect(usable()).to.deep.equal(counts);
          }
          if (settles[1] === "yes") atOnce(settling);
          ask(names.filter((name) => asked.includes(name)));
        }
        ask(names);
      }),
    );
  });

  it("the usable endpoints of a Service are reported as the largest count of its ports", () => {
    const { update, usable } = harness();
    update({
      "ns/web/http": set("ns/web", "10.0.0.1:80", "10.0.0.2:80"),
      "ns/web/admin": set("ns/web", "10.0.0.1:81"),
      "ns/api/http": set("ns/api"),
    });
    expect(usable()).to.deep.equal({ "ns/web": 2, "ns/api": 0 });
    update({ "ns/web/http": undefined });
    expect(usable()).to.deep.equal({ "ns/web": 1, "ns/api": 0 });
    update({
      "ns/web/admin": undefined,
      "ns/api/http": set("ns/api", "10.0.1.1:80", "10.0.1.1:80", "10.0.1.2:80"),
    });
    expect(usable()).to.deep.equal({ "ns/api": 2 });
    update({ "ns/api/http": undefined, "ns/new/http": set("ns/new", "10.0.2.1:80") });
    update({ "ns/new/http": undefined });
    expect(usable()).to.deep.equal({});
  });

  describe("endpoints with TLS", () => {
    const policy: BackendTls = { hostname: "a.test", authorities: authority.leafPem };
    const web = { ...set("ns/web", "10.0.0.1:443"), tls: "ns/strict" };
    const tlsOf = (upstream: Upstream) => upstream.endpoints[0]?.tls;
    const refused = { refused: "upstream TLS policy not usable" };

    function secure(changes: Partial<TlsChanges> = {}) {
      const made = harness();
      const change = (next: Partial<TlsChanges>, endpoints: Record<string, EndpointSet> = {}) =>
        made.registry.update({
          endpoints: new Map(Object.entries(endpoints)),
          tls: { policies: new Map(), certificates: new Map(), ...next },
        });
      change({ policies: new Map([["ns/strict", policy]]), ...changes }, { "ns/web/443": web });
      return {
        ...made,
        change,
        get: (gateway?: string) => made.registry.get("ns/web/443", "http1", gateway),
      };
    }

    it("endpoints have the TLS settings of their policy, the same for all protocols", () => {
      const { registry, get } = secure();
      expect(tlsOf(get())).to.deep.include({ serverName: "a.test" });
      expect(registry.get("ns/web/443", "http2").endpoints[0]).to.equal(get().endpoints[0]);
    });

    it("endpoints are replaced when their TLS policy changes, and only then", () => {
      const { registry, get, change, retired, update } = secure();
      const [before] = get().endpoints;
      update({ "ns/web/443": { ...web, addresses: [...web.addresses, { host: "10.0.0.2", port: 443 }] } });
      expect(get().endpoints[0]).to.equal(before);
      change({ policies: new Map([["ns/other", policy]]) });
      expect([get().endpoints[0], retired]).to.deep.equal([before, []]);
      const seen = registry.follow("ns/web/443")?.changes ?? 0;
      change({ policies: new Map([["ns/strict", { ...policy, hostname: "b.test" }]]) });
      expect(registry.follow("ns/web/443")?.changes).to.equal(seen + 1);
      expect(tlsOf(get())).to.deep.include({ serverName: "b.test" });
      expect(retired).to.deep.equal([["10.0.0.1:443", "10.0.0.2:443"]]);
    });

    it("a missing TLS policy refuses connections, and only a set without policy is connected to in plaintext", () => {
      const { get, change, update } = secure();
      change({ policies: new Map([["ns/strict", undefined]]) });
      expect(tlsOf(get())).to.deep.equal(refused);
      update({ "ns/web/443": set("ns/web", "10.0.0.1:443") });
      expect(tlsOf(get())).to.equal(undefined);
    });

    it("endpoints with different client certificates are separate", () => {
      const certificate = issueCertificate(["gateway.test"]);
      const { get, change, retired, update } = secure({ certificates: new Map([["ns/a", { certificate }]]) });
      const [none, a] = [get().endpoints[0], get("ns/a").endpoints[0]];
      expect(a).not.to.equal(none);
      expect(get("ns/b").endpoints[0]?.tls).to.deep.equal({
        refused: "no valid client certificate for upstream",
      });
      change({ certificates: new Map([["ns/a", { certificate: issueCertificate(["gateway.test"]) }]]) });
      expect(get().endpoints[0]).to.equal(none);
      expect(get("ns/a").endpoints[0]).not.to.equal(a);
      expect(retired).to.deep.equal([["10.0.0.1:443"]]);
      // In cleartext nothing is shown.
      update({ "ns/web/443": set("ns/web", "10.0.0.1:443") });
      expect(get("ns/a")).to.equal(get());
    });

    it("a removed client certificate refuses new connections of its Gateway", () => {
      const certificate = issueCertificate(["gateway.test"]);
      const { get, change } = secure({ certificates: new Map([["ns/a", { certificate }]]) });
      expect(tlsOf(get("ns/a"))).to.have.property("context");
      change({ certificates: new Map([["ns/a", undefined]]) });
      expect(tlsOf(get("ns/a"))).to.have.property("refused");
    });
  });
});
