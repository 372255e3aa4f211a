import { expect } from "chai";
import fc from "fast-check";
import { createRendezvousBalancer } from "../../../src/upstream/balancers/rendezvous.ts";
import { createRoundRobinBalancer } from "../../../src/upstream/balancers/round-robin.ts";
import { hashText } from "../../../src/upstream/balancers/text-hash.ts";
import type { UpstreamEndpoint } from "../../../src/upstream/upstream.ts";
import { endpointList, pickRequest } from "../balancing.ts";

const byUri = () =>
  createRendezvousBalancer(
    ({ path }) => path,
    createRoundRobinBalancer(() => 0),
  );

type Endpoints = readonly UpstreamEndpoint[];

const pickAll = (endpoints: Endpoints, keys: readonly string[], excluded?: ReadonlySet<UpstreamEndpoint>) => {
  const picker = byUri().update(endpoints);
  return keys.map((key) => picker.pick(pickRequest({ path: key }), excluded)?.address);
};

const keys = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 200 });
const numberedKeys = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `/item/${i}`);

describe("createRendezvousBalancer", () => {
  it("rendezvous hashing moves only the keys of a removed endpoint, and back when it returns", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.nat(), keys, (count, seed, sample) => {
        const all = endpointList(count + 1);
        const removed = all[seed % all.length] as UpstreamEndpoint;
        const before = pickAll(all, sample);
        const after = pickAll(
          all.filter((endpoint) => endpoint !== removed),
          sample,
        );
        for (const [index, address] of before.entries()) {
          if (address === removed.address) expect(after[index]).to.not.equal(removed.address);
          else expect(after[index]).to.equal(address);
        }
      }),
    );
  });

  it("rendezvous hashing moves one key in n to an added endpoint", () => {
    const sample = numberedKeys(20_000);
    for (const count of [2, 9, 99]) {
      const before = pickAll(endpointList(count), sample);
      const after = pickAll(endpointList(count + 1), sample);
      const moved = after.filter((address, index) => address !== before[index]);
      const newcomer = endpointList(1, count)[0]?.address;
      expect(new Set(moved)).to.deep.equal(new Set([newcomer]));
      expect((moved.length * (count + 1)) / sample.length).to.be.within(0.8, 1.2);
    }
  });

  it("rendezvous hashing spreads keys evenly over the endpoints", () => {
    for (const [count, tolerance] of [
      [3, 0.03],
      [100, 0.25],
    ] as const) {
      const sample = numberedKeys(60_000);
      const shares = new Map<string | undefined, number>();
      for (const address of pickAll(endpointList(count), sample))
        shares.set(address, (shares.get(address) ?? 0) + 1);
      expect(shares.size).to.equal(count);
      for (const share of shares.values()) {
        expect((share * count) / sample.length).to.be.within(1 - tolerance, 1 + tolerance);
      }
    }
  });

  it("rendezvous hashing depends neither on the order of endpoints nor on earlier picks or endpoints", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...endpointList(12)], { minLength: 1 }), keys, (some, sample) => {
        const sorted = some.toSorted((a, b) => (a.address < b.address ? -1 : 1));
        const balancer = byUri();
        balancer.update(endpointList(5)).pick(pickRequest({ path: "/x" }));
        const picker = balancer.update(some);
        const picked = sample.map((key) => picker.pick(pickRequest({ path: key }))?.address);
        expect(picked).to.deep.equal(pickAll(sorted, sample));
      }),
    );
  });

  it("rendezvous hashing picks as if an excluded endpoint did not exist", () => {
    fc.assert(
      fc.property(fc.subarray([...endpointList(10)]), keys, (excluded, sample) => {
        const left = endpointList(10).filter(
          ({ address }) => !excluded.some((one) => one.address === address),
        );
        const all = endpointList(10);
        const barred = new Set(all.filter(({ address }) => !left.some((one) => one.address === address)));
        expect(pickAll(all, sample, barred)).to.deep.equal(pickAll(left, sample));
      }),
    );
  });

  it("the rendezvous balancer spreads requests without a key round-robin", () => {
    const picker = byUri().update(endpointList(3));
    const picked = Array.from({ length: 4 }, () => picker.pick(pickRequest({ path: "" }))?.host);
    expect(picked).to.deep.equal(["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.0"]);
    const withoutKey = createRendezvousBalancer(
      () => undefined,
      createRoundRobinBalancer(() => 0),
    );
    expect(withoutKey.update([]).pick(pickRequest())).to.equal(undefined);
    expect(byUri().update([]).pick(pickRequest())).to.equal(undefined);
  });

  it("the rendezvous balancer splits the keys between two endpoints with equal hashes", () => {
    const twins = ["10.0.100.14", "10.0.207.121"].map((host) => ({ host, port: 80, address: `${host}:80` }));
    const [first, second] = twins.map(({ address }) => hashText(address, 0x5bd1e995));
    expect(first).to.equal(second);
    const picked = new Set(pickAll(twins, numberedKeys(100)));
    expect(picked).to.deep.equal(new Set(twins.map(({ address }) => address)));
  });

  it("rendezvous picks stay the same between releases: a change would move every client", () => {
    expect(hashText("", 0)).to.equal(0);
    expect(["a", "10.0.0.1:80", "/item/1?x=\u00e9"].map((text) => hashText(text, 1))).to.deep.equal([
      -631233257, 1132357957, 1838008045,
    ]);
    expect(pickAll(endpointList(5), ["/", "/a", "/b", "198.51.100.7"])).to.deep.equal([
      "10.0.0.4:80",
      "10.0.0.2:80",
      "10.0.0.4:80",
      "10.0.0.2:80",
    ]);
  });
});
