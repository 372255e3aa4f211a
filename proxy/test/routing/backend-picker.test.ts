import { expect } from "chai";
import fc from "fast-check";
import type { CompiledBackend } from "../../src/exchange/compiled-route.ts";
import { createBackendPicker } from "../../src/routing/backend-picker.ts";

const backend = (status: number): CompiledBackend => ({ kind: "status", status });

/** How often each of the backends was picked in `count` picks. */
function tally(weights: readonly number[], count: number, start: number): number[] {
  const backends = weights.map((weight, index) => ({ weight, backend: backend(400 + index) }));
  const pick = createBackendPicker(backends, () => start);
  const counts = weights.map(() => 0);
  for (let i = 0; i < count; i++) {
    const picked = pick();
    const index = backends.findIndex((one) => one.backend === picked);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

describe("createBackendPicker", () => {
  it("the picker answers 500 without backends, and when all weights are 0", () => {
    expect(createBackendPicker([], () => 0)()).to.deep.equal({ kind: "status", status: 500 });
    const zeros = [0, 0].map((weight) => ({ weight, backend: backend(503) }));
    expect(createBackendPicker(zeros, () => 0)()).to.deep.equal({ kind: "status", status: 500 });
  });

  it("the picker gives a single backend every request, and one with weight 0 none", () => {
    expect(tally([7], 100, 0.3)).to.deep.equal([100]);
    expect(tally([0, 1, 0], 100, 0.3)).to.deep.equal([0, 100, 0]);
  });

  it("the picker gives broken backends their share of requests", () => {
    const counts = tally([1, 1], 1000, 0.9);
    expect(counts[0]).to.be.within(498, 502);
  });

  it("the picker keeps every stretch of requests close to the weights", () => {
    const weights = fc.array(fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 1_000_000 })), {
      minLength: 1,
      maxLength: 8,
    });
    const start = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 2000 }), start, (shares, count, point) => {
        const total = shares.reduce((sum, weight) => sum + weight, 0);
        fc.pre(total > 0);
        const counts = tally(shares, count, point);
        for (const [index, weight] of shares.entries()) {
          const expected = (count * weight) / total;
          expect(Math.abs((counts[index] ?? 0) - expected)).to.be.lessThan(2 + Math.log2(count) / 2);
          if (weight === 0) expect(counts[index]).to.equal(0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("the picker does not favour the first backend when routes are compiled again and again", () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    let first = 0;
    for (let i = 0; i < 2000; i++) {
      const backends = [backend(400), backend(401)].map((one) => ({ weight: 1, backend: one }));
      if (createBackendPicker(backends, random)() === backends[0]?.backend) first++;
    }
    expect(first).to.be.within(850, 1150);
  });
});
