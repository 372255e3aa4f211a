import { expect } from "chai";
import fc from "fast-check";
import { pickRequest } from "../balancing.ts";
import { createRoundRobinBalancer } from "../../../src/upstream/balancers/round-robin.ts";
import type { UpstreamEndpoint } from "../../../src/upstream/upstream.ts";

const request = pickRequest();
const all: readonly UpstreamEndpoint[] = Array.from({ length: 12 }, (_, index) => ({
  host: `10.0.0.${index}`,
  port: 80,
  address: `10.0.0.${index}:80`,
}));

const endpointSet = fc
  .subarray(all as UpstreamEndpoint[], { minLength: 1 })
  .map((chosen): readonly UpstreamEndpoint[] => chosen);

describe("createRoundRobinBalancer", () => {
  it("the round-robin balancer picks nothing when there are no endpoints", () => {
    const balancer = createRoundRobinBalancer(() => 0.5);
    expect(balancer.update([]).pick(request)).to.equal(undefined);
    expect(balancer.update(all.slice(0, 1)).pick(request)).to.equal(all[0]);
    expect(balancer.update([]).pick(request)).to.equal(undefined);
  });

  it("the round-robin balancer starts at a random endpoint", () => {
    for (const [random, first] of [
      [0, 0],
      [0.5, 2],
      [0.999, 3],
    ] as const) {
      expect(
        createRoundRobinBalancer(() => random)
          .update(all.slice(0, 4))
          .pick(request),
      ).to.equal(all[first]);
    }
  });

  it("the round-robin balancer picks every endpoint equally often, from any start", () => {
    fc.assert(
      fc.property(
        endpointSet,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 1, max: 5 }),
        (endpoints, random, rounds) => {
          const picker = createRoundRobinBalancer(() => random).update(endpoints);
          const counts = new Map<UpstreamEndpoint | undefined, number>();
          for (let i = 0; i < rounds * endpoints.length; i++) {
            const picked = picker.pick(request);
            counts.set(picked, (counts.get(picked) ?? 0) + 1);
          }
          expect(counts.size).to.equal(endpoints.length);
          for (const endpoint of endpoints) expect(counts.get(endpoint)).to.equal(rounds);
        },
      ),
    );
  });

  it("the round-robin balancer continues with the next remaining endpoint after a change of endpoints", () => {
    fc.assert(
      fc.property(endpointSet, endpointSet, fc.nat(20), (before, after, served) => {
        const balancer = createRoundRobinBalancer(() => 0);
        const picker = balancer.update(before);
        for (let i = 0; i < served; i++) picker.pick(request);
        const due = Array.from({ length: before.length }, (_, i) => before[(served + i) % before.length]);
        const expected = due.find((endpoint) => after.includes(endpoint as UpstreamEndpoint)) ?? after[0];
        expect(balancer.update(after).pick(request)).to.equal(expected);
      }),
    );
  });

  it("the round-robin balancer skips excluded endpoints and keeps the turn of the others", () => {
    fc.assert(
      fc.property(endpointSet, endpointSet, (endpoints, excluded) => {
        const picker = createRoundRobinBalancer(() => 0).update(endpoints);
        const left = endpoints.filter((endpoint) => !excluded.includes(endpoint));
        const picked = left.map(() => picker.pick(request, new Set(excluded)));
        expect(picked).to.deep.equal(left);
        if (left.length === 0) expect(picker.pick(request, new Set(excluded))).to.equal(undefined);
      }),
    );
  });
});
