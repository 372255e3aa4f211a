import { expect } from "chai";
import fc from "fast-check";
import { RoutePickers } from "../../../src/upstream/balancers/route-pickers.ts";
import type { RequestBalancing, UpstreamEndpoint } from "../../../src/upstream/upstream.ts";
import { endpointList, pickRequest } from "../balancing.ts";

type Endpoints = readonly UpstreamEndpoint[];

/** Numbers that visit every place of a subset in turn. */
const turning = () => {
  let next = 0;
  return () => ((next += 1) % 64) / 64;
};
const over = (endpoints: Endpoints): RoutePickers => {
  const pickers = new RoutePickers(turning());
  pickers.update(endpoints);
  return pickers;
};
const hash: RequestBalancing = { algorithm: "hash" };
const pick = (pickers: RoutePickers, balancing: RequestBalancing, hashKey: string, excluded?: Endpoints) =>
  pickers.of(balancing).pick(pickRequest({ balancing, hashKey }), excluded && new Set(excluded))?.address ??
  "";
/** All endpoints that requests with a key get. */
const subsetOf = (pickers: RoutePickers, subset: number, key: string, excluded?: Endpoints) =>
  new Set(Array.from({ length: 64 }, () => pick(pickers, { algorithm: "hash", subset }, key, excluded)));
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `/item/${i}`);

describe("RoutePickers", () => {
  it("a hash moves only the keys of a removed endpoint", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 20 }), fc.nat(), fc.string(), (count, seed, key) => {
        const all = endpointList(count);
        const removed = all[seed % count];
        const before = pick(over(all), hash, key);
        const after = pick(over(all.filter((one) => one !== removed)), hash, key);
        if (before === removed?.address) expect(after).to.not.equal(before);
        else expect(after).to.equal(before);
      }),
    );
  });

  it("a hash spreads keys evenly, and requests with an empty key go to one endpoint", () => {
    const pickers = over(endpointList(4));
    const shares = new Map<string, number>();
    for (const key of numbered(20_000)) {
      const address = pick(pickers, hash, key);
      shares.set(address, (shares.get(address) ?? 0) + 1);
    }
    expect(shares.size).to.equal(4);
    for (const share of shares.values()) expect(share).to.be.within(4500, 5500);
    expect(new Set(Array.from({ length: 20 }, () => pick(pickers, hash, ""))).size).to.equal(1);
  });

  it("a key leads to as many endpoints as a subset has, the one of the plain hash among them", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 15 }),
        fc.string(),
        (count, size, key) => {
          const pickers = over(endpointList(count));
          const subset = subsetOf(pickers, size, key);
          expect(subset.size).to.equal(Math.min(size, count));
          expect(subset).to.include(pick(pickers, hash, key));
        },
      ),
    );
  });

  it("subsets use all endpoints evenly", () => {
    const pickers = over(endpointList(6));
    const shares = new Map<string, number>();
    for (const key of numbered(20_000)) {
      const address = pick(pickers, { algorithm: "hash", subset: 3 }, key);
      shares.set(address, (shares.get(address) ?? 0) + 1);
    }
    expect(shares.size).to.equal(6);
    for (const share of shares.values()) expect((share * 6) / 20_000).to.be.within(0.85, 1.15);
  });

  it("a removed endpoint changes one place of the subsets that it belongs to", () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 12 }), fc.nat(), fc.string(), (count, seed, key) => {
        const all = endpointList(count);
        const removed = all[seed % count];
        const before = subsetOf(over(all), 3, key);
        const after = subsetOf(over(all.filter((one) => one !== removed)), 3, key);
        const kept = [...before].filter((address) => after.has(address));
        expect(kept.length).to.equal(before.has(removed?.address ?? "") ? 2 : 3);
      }),
    );
  });

  it("excluded endpoints of a subset are left out, and the next in rank serves for a whole one", () => {
    const all = endpointList(5);
    const pickers = over(all);
    const subset = subsetOf(pickers, 2, "k");
    const members = all.filter(({ address }) => subset.has(address));
    expect(subsetOf(pickers, 2, "k", members.slice(0, 1))).to.deep.equal(new Set([members[1]?.address]));
    const others = subsetOf(pickers, 2, "k", members);
    expect(others.size).to.equal(1);
    expect(subset).to.not.include([...others][0]);
    expect(pick(pickers, { algorithm: "hash", subset: 2 }, "k", all)).to.equal("");
    expect(pick(pickers, hash, "k", all)).to.equal("");
  });

  it("a turn goes on when endpoints change, and no endpoint is picked where there are none", () => {
    const all = endpointList(3);
    const pickers = over(all);
    const first = pick(pickers, { algorithm: "round_robin" }, "");
    pickers.update([...all]);
    expect(pick(pickers, { algorithm: "round_robin" }, "")).to.not.equal(first);
    pickers.update([]);
    for (const balancing of [hash, { ...hash, subset: 3 }, { algorithm: "ewma" }] as const) {
      expect(pick(pickers, balancing, "k")).to.equal("");
    }
  });

  it("endpoints are watched once a route goes by their load", () => {
    const pickers = over(endpointList(2));
    pickers.of({ algorithm: "round_robin" });
    pickers.of(hash);
    expect(pickers.needsLoad).to.equal(false);
    pickers.of({ algorithm: "least_conn" });
    expect(pickers.needsLoad).to.equal(true);
  });
});
