import { expect } from "chai";
import fc from "fast-check";
import {
  reconnectDelayMs,
  reconnectRange,
  renewalDelayMs,
  renewalRange,
  servingReconnectRange,
} from "@svc-gateway/proxy/source/backoff.ts";

describe("backoff", () => {
  const longest = (failures: number, range: typeof reconnectRange): number =>
    reconnectDelayMs(failures, range, () => 1);

  it("doubles from 250 ms to 30 seconds, or to 5 while something is served", () => {
    const lengths = (range: typeof reconnectRange): readonly number[] =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 1000].map((failures) => longest(failures, range));
    expect(lengths(reconnectRange)).to.deep.equal([
      250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
    ]);
    expect(lengths(servingReconnectRange)).to.deep.equal([
      250, 500, 1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000,
    ]);
  });

  it("is scattered over its whole length when reconnecting", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (failures, random) => {
          const delay = reconnectDelayMs(failures, reconnectRange, () => random);
          expect(delay).to.be.within(0, longest(failures, reconnectRange));
        },
      ),
    );
  });

  it("stays between 5 seconds and 5 minutes when renewing", () => {
    expect(renewalDelayMs(1, renewalRange, () => 0.5)).to.equal(5_000);
    expect(renewalDelayMs(2, renewalRange, () => 1)).to.equal(10_000);
    expect(renewalDelayMs(50, renewalRange, () => 0)).to.equal(5_000);
    expect(renewalDelayMs(50, renewalRange, () => 1)).to.equal(300_000);
  });
});
