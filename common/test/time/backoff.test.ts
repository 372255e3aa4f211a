import { expect } from "chai";
import { backoffMs } from "../../src/time/backoff.ts";

describe("backoffMs", () => {
  const bounds = { firstMs: 250, maxMs: 5_000 };
  const last = 0.999_999;

  it("a wait doubles with each failure up to its bound, however many there are", () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 1000, 10_000].map((failures) => backoffMs(bounds, failures));
    expect(waits).to.deep.equal([250, 500, 1000, 2000, 4000, 5000, 5000, 5000, 5000]);
  });

  it("a bound below the first wait counts, and a wait of zero stays zero", () => {
    expect(backoffMs({ firstMs: 250, maxMs: 100 }, 1)).to.equal(100);
    expect(backoffMs({ firstMs: 0, maxMs: 100 }, 10_000)).to.equal(0);
  });

  for (const [jitter, least] of [
    ["full", 0],
    ["half", 500],
    ["above-first", 250],
  ] as const) {
    it(`a wait with the jitter ${jitter} is drawn from ${least} ms to 1 s after three failures`, () => {
      const backoff = { ...bounds, jitter };
      expect(backoffMs(backoff, 3, () => 0)).to.equal(least);
      expect(backoffMs(backoff, 3, () => last)).to.be.within(999, 1000);
      expect(backoffMs(backoff, 3)).to.be.within(least, 1000);
    });
  }
});
