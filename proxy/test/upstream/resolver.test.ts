import { expect } from "chai";
import type { AddressRecord, NameService } from "../../src/upstream/name-service.ts";
import { type Addresses, createResolver, type Resolver } from "../../src/upstream/resolver.ts";

type Zone = { v4?: AddressRecord[]; v6?: AddressRecord[]; lookup?: string[] };

/** Name service with a zone that a test can change, and the questions that it was asked. */
function fakeNames(zone: Zone): { names: NameService; asked: string[]; zone: Zone } {
  const asked: string[] = [];
  const answer = async <T>(question: string, found: T | undefined): Promise<T> => {
    asked.push(question);
    if (found === undefined) throw Object.assign(new Error(question), { code: "ENOTFOUND" });
    return found;
  };
  const held = { ...zone };
  return {
    asked,
    zone: held,
    names: {
      resolve4: (name) => answer(`A ${name}`, held.v4),
      resolve6: (name) => answer(`AAAA ${name}`, held.v6),
      lookup: (name) => answer(`lookup ${name}`, held.lookup),
    },
  };
}

const resolved = (resolver: Resolver, name: string): Promise<Addresses | "unresolved"> =>
  new Promise((resolve) =>
    resolver.resolve(name, (result) => resolve(result.ok ? result.value : result.error)),
  );

describe("createResolver", () => {
  let nowMs = 0;
  const now = (): number => nowMs;
  beforeEach(() => (nowMs = 1_000_000));

  it("the resolver queries both address families and returns IPv4 first", async () => {
    const { names } = fakeNames({
      v4: [
        { address: "192.0.2.1", ttl: 30 },
        { address: "192.0.2.2", ttl: 30 },
      ],
      v6: [{ address: "2001:db8::1", ttl: 30 }],
    });
    const resolver = createResolver({ names, now });
    expect(await resolved(resolver, "a.test")).to.deep.equal(["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
  });

  it("the resolver succeeds with one address family", async () => {
    const v6 = [{ address: "2001:db8::1", ttl: 30 }];
    const resolver = createResolver({ names: fakeNames({ v6 }).names, now });
    expect(await resolved(resolver, "a.test")).to.deep.equal(["2001:db8::1"]);
  });

  for (const [ttl, keptSeconds] of [
    [0, 5],
    [4, 5],
    [30, 30],
    [3600, 60],
  ] as const) {
    it(`the resolver keeps an answer with a TTL of ${ttl} s for ${keptSeconds} s`, async () => {
      const { names, asked, zone } = fakeNames({
        v4: [
          { address: "192.0.2.1", ttl },
          { address: "192.0.2.9", ttl: 999 },
        ],
      });
      const resolver = createResolver({ names, now });
      await resolved(resolver, "a.test");
      zone.v4 = [{ address: "192.0.2.2", ttl }];
      nowMs += keptSeconds * 1000 - 1;
      expect(await resolved(resolver, "a.test")).to.deep.equal(["192.0.2.1", "192.0.2.9"]);
      expect(asked).to.have.length(2);
      nowMs += 1;
      expect(await resolved(resolver, "a.test")).to.deep.equal(["192.0.2.2"]);
    });
  }

  it("the resolver answers from its cache in the same turn", async () => {
    const resolver = createResolver({
      names: fakeNames({ v4: [{ address: "192.0.2.1", ttl: 30 }] }).names,
      now,
    });
    await resolved(resolver, "a.test");
    let answered = false;
    resolver.resolve("a.test", () => (answered = true));
    expect(answered).to.equal(true);
  });

  it("the resolver sends equal queries at the same time once", async () => {
    const { names, asked } = fakeNames({ v4: [{ address: "192.0.2.1", ttl: 30 }] });
    const resolver = createResolver({ names, now });
    await Promise.all([
      resolved(resolver, "a.test"),
      resolved(resolver, "a.test"),
      resolved(resolver, "b.test"),
    ]);
    expect(asked.sort()).to.deep.equal(["A a.test", "A b.test", "AAAA a.test", "AAAA b.test"]);
  });

  it("the resolver asks the system for names that DNS does not have", async () => {
    const { names, asked } = fakeNames({ lookup: ["192.0.2.7"] });
    const resolver = createResolver({ names, now });
    expect(await resolved(resolver, "short")).to.deep.equal(["192.0.2.7"]);
    nowMs += 4999;
    await resolved(resolver, "short");
    expect(asked).to.have.length(3);
  });

  for (const name of ["localhost", "LOCALHOST.", "a.localhost"]) {
    it(`the resolver never asks a name server for ${name}`, async () => {
      const { names, asked } = fakeNames({ lookup: ["127.0.0.1"] });
      expect(await resolved(createResolver({ names, now }), name)).to.deep.equal(["127.0.0.1"]);
      expect(asked).to.deep.equal([`lookup ${name}`]);
    });
  }

  it("the resolver reports a name without address, and queries again after a second", async () => {
    const { names, zone } = fakeNames({});
    const resolver = createResolver({ names, now });
    expect(await resolved(resolver, "a.test")).to.equal("unresolved");
    zone.v4 = [{ address: "192.0.2.1", ttl: 30 }];
    nowMs += 1000;
    expect(await resolved(resolver, "a.test")).to.deep.equal(["192.0.2.1"]);
  });

  it("lastKnown returns the last answer while it is being refreshed", async () => {
    const { names, zone } = fakeNames({ v4: [{ address: "192.0.2.1", ttl: 10 }] });
    const resolver = createResolver({ names, now });
    expect(resolver.lastKnown("a.test")).to.equal(undefined);
    await resolved(resolver, "a.test");
    zone.v4 = [{ address: "192.0.2.2", ttl: 10 }];
    expect(resolver.lastKnown("a.test")).to.deep.equal(["192.0.2.1"]);
    nowMs += 10_000;
    expect(resolver.lastKnown("a.test")).to.deep.equal(["192.0.2.1"]);
    expect(await resolved(resolver, "a.test")).to.deep.equal(["192.0.2.2"]);
    expect(resolver.lastKnown("a.test")).to.deep.equal(["192.0.2.2"]);
  });

  it("the resolver forgets the names that were least recently used", async () => {
    const { names, asked } = fakeNames({ v4: [{ address: "192.0.2.1", ttl: 60 }] });
    const resolver = createResolver({ names, now });
    for (let i = 0; i < 1024; i++) await resolved(resolver, `n${i}.test`);
    await resolved(resolver, "n0.test");
    await resolved(resolver, "one-more.test");
    asked.length = 0;
    await resolved(resolver, "n0.test");
    expect(asked).to.deep.equal([]);
    await resolved(resolver, "n1.test");
    expect(asked).to.have.length(2);
  });

  it("the resolver finds localhost on this machine", async () => {
    const addresses = await resolved(createResolver(), "localhost");
    expect(addresses).to.satisfy((found: Addresses) => found.includes("127.0.0.1") || found.includes("::1"));
  });
});
